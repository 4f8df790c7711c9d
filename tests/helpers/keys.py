"""Keys that sign mails. They are smaller than ours, because they are made sooner."""

import pytest

rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa", reason="the extra dkim is not installed")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")


def new_key():
    return rsa.generate_private_key(65537, 1024)


def write_key(key, path):
    """Write a key to a file, for its owner alone. Returns the path."""
    form = serialization.PrivateFormat.TraditionalOpenSSL
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    path.chmod(0o600)
    return path
