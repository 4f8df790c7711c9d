"""The command that writes the site."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pbm import settings, texts
from pbm.console import answer, changes, let_server_go_first, open_existing, progress_bar
from pbm.console.usage import Commands
from pbm.drawing import images
from pbm.names import is_site
from pbm.refusals import Refused, refusing_os_errors
from pbm.session import Session
from pbm.terminal import warn

if TYPE_CHECKING:
    from pbm.site.build import Built
    from pbm.site.pages import SiteSettings

commands = Commands("pbm")
TEMPLATES_EXTRA = "Pages are made with Jinja2, which is not installed: pip install '.[site]' brings it."
LOOK_FOR_CHANGES_SECONDS = 0.2
"""How long `--follow` waits before it looks for changes again."""


@commands.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--url", default="", metavar="URL", help="Where the site will stand, such as https://games.example/; else PBM_SITE."
)
@click.option("--web", is_flag=True, help="Let pages post to the same address, where `serve --web` runs.")
@click.option("--follow", is_flag=True, help="Go on, and write what changes within seconds, until ended.")
def site(folder: Path, url: str, *, web: bool, follow: bool) -> int:
    """Write a web site: plain files for any web server, with a page for each board.

    Only what has changed since the last time is written. The pages show only what anybody may see with `show`. With
    --url, pages tell search engines and other sites where they are, and each board has a picture for links to it.
    Files in DIR that are no pages of the site are left alone. If standard input is a pipe, --follow ends when the pipe
    ends. If a page cannot be made, it stays as it was, the error is printed, and the exit status is 1.
    """
    session = Session(open_existing())
    if follow:
        let_server_go_first()
    site = site_settings(url)._replace(can_post=web)
    done = _update(session, folder, site)
    if follow:
        for _ in changes(session.store, LOOK_FOR_CHANGES_SECONDS):
            done = _update(session, folder, site)
    answer(
        f"{texts.counted(done.pages, 'file')}, {done.written} of them new or changed; {done.removed} removed.",
        {"pages": done.pages, "written": done.written, "removed": done.removed, "failed": list(done.failed)},
    )
    return 1 if done.failed else 0


def site_settings(url: str) -> "SiteSettings":
    """The settings of the site, by the options. Raises Refused."""
    try:
        from pbm.site.pages import SiteSettings
    except ImportError as error:
        raise Refused(TEMPLATES_EXTRA) from error
    if url and not is_site(url):
        raise Refused(f"{url!r} is no address of a site; it looks like https://games.example/.")
    where = url or settings.site()
    if not where:
        return SiteSettings("", has_pictures=False)  # a link to a picture needs the address of the site
    return SiteSettings(f"{where.rstrip('/')}/", images.is_available())


def _update(session: Session, folder: Path, site: "SiteSettings") -> "Built":
    """Bring the site up to date. Raises Refused if the folder cannot be written."""
    from pbm.site.build import build

    with refusing_os_errors(f"The site cannot be written to {folder}"), progress_bar("Pages") as progress:
        done = build(folder, session, site, progress)
    for path, why in done.failed.items():
        warn(f"{path} could not be made ({why}); its next change tries it again.")
    return done
