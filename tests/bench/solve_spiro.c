/* Solves Spiro with one or two pieces a side: how likely the side to move is to win when both play as well as can be.

   cc -O2 -o solve_spiro solve_spiro.c && ./solve_spiro 2 16 -1 10 14 ... < positions

   The arguments are how many pieces a side has, how long a path is, and for each cell of the own path, from the home
   on, the cell behind its wall, or -1; the other side's board is the same, turned. Cells of the own path are 0, 1 and so
   on, those of the other one follow, and twice the length of a path stands for a piece that is borne off. The chances
   before the dice are thrown are the fixed point of "the best turn for each throw" (value iteration, Bellman 1957),
   reached where no chance changes by more than 1e-9 any more.

   The first line of the output is the chance of the side that begins, with its single die. Then, for each line of the
   input, two cells of the side to move, two of the other one, and which of these four pieces are pinned, as the sum of
   1, 2, 4 and 8, the chance of the side to move. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS 67
#define MOST_ENDS 20000

typedef struct {
    int at[2][2], pinned[2][2]; /* of the side to move, then of the other one */
} Position;

static int pieces, length, off, pairs, pair_of[MOST_CELLS][MOST_CELLS], wall[MOST_CELLS];
static double *chances;

static void sort(Position *position) {
    for (int side = 0; side < 2; side++) {
        int *at = position->at[side], *pinned = position->pinned[side];
        if (at[0] > at[1] || (at[0] == at[1] && pinned[0] > pinned[1])) {
            int cell = at[0], pin = pinned[0];
            at[0] = at[1], pinned[0] = pinned[1], at[1] = cell, pinned[1] = pin;
        }
    }
}

static size_t number_of(const Position *position) {
    size_t own = pair_of[position->at[0][0]][position->at[0][1]], other = pair_of[position->at[1][0]][position->at[1][1]];
    int pins = position->pinned[0][0] + 2 * position->pinned[0][1] + 4 * position->pinned[1][0] + 8 * position->pinned[1][1];
    return ((own * pairs + other) << 4) + pins;
}

/* The same position as the other side sees it, which is to move then. */
static Position turned(const Position *position) {
    Position found;
    for (int side = 0; side < 2; side++)
        for (int piece = 0; piece < 2; piece++) {
            int cell = position->at[1 - side][piece];
            found.at[side][piece] = cell == off ? off : (cell + length) % (2 * length);
            found.pinned[side][piece] = position->pinned[1 - side][piece];
        }
    sort(&found);
    return found;
}

static int count(const Position *position, int side, int cell) {
    return (position->at[side][0] == cell) + (position->at[side][1] == cell);
}

static int is_pinned(const Position *position, int side, int cell) {
    return (position->at[side][0] == cell && position->pinned[side][0]) ||
           (position->at[side][1] == cell && position->pinned[side][1]);
}

static int is_blocked(const Position *position, int cell) {
    int own = count(position, 0, cell), other = count(position, 1, cell);
    int is_on_top = other && (!own || is_pinned(position, 0, cell));
    return is_on_top && own + other > 1;
}

static void leave(Position *position, int piece, int to) {
    int from = position->at[0][piece];
    position->at[0][piece] = to;
    if (!count(position, 0, from))
        for (int each = 0; each < 2; each++)
            if (position->at[1][each] == from) position->pinned[1][each] = 0;
}

typedef struct {
    Position ends[MOST_ENDS];
    int pips[MOST_ENDS], number, most, is_won;
} Turns;

/* Use the dice that are left; *jumps* that are allowed still; the cell from which one went before, and if it blotted. */
static void use(Turns *turns, Position position, int *dice, int used, int jumps, int from, int has_blotted) {
    if (turns->is_won) return;
    if (position.at[0][0] == off && position.at[0][1] == off) {
        turns->is_won = 1;
        return;
    }
    if (used >= turns->most) {
        turns->most = used;
        if (turns->number == MOST_ENDS) abort();
        turns->ends[turns->number] = position, turns->pips[turns->number++] = used;
    }
    for (int die = 0; die < 4; die++) {
        int number = dice[die];
        if (!number || (die && dice[die - 1] == number)) continue;
        dice[die] = 0;
        for (int piece = 0; piece < 2; piece++) {
            int cell = position.at[0][piece];
            if (cell == off || position.pinned[0][piece] || (piece && position.at[0][0] == cell)) continue;
            int is_past = cell % length + number >= length, to = is_past ? off : cell + number;
            if (is_past || !is_blocked(&position, to)) {
                Position after = position;
                int is_pinning = !is_past && count(&position, 1, to) == 1 && !count(&position, 0, to);
                leave(&after, piece, to);
                for (int each = 0; is_pinning && each < 2; each++)
                    if (after.at[1][each] == to) after.pinned[1][each] = 1;
                use(turns, after, dice, used + number, jumps, from, has_blotted);
            }
            to = wall[cell];
            if (jumps && to >= 0 && to != length && !is_blocked(&position, to)) {
                Position after = position;
                int blots = count(&position, 1, to) == 1 && !count(&position, 0, to);
                if (from == to && !blots && !has_blotted) continue;
                leave(&after, piece, to);
                for (int each = 0; blots && each < 2; each++)
                    if (after.at[1][each] == to) after.at[1][each] = length;
                use(turns, after, dice, used + number, jumps - 1, cell, blots);
            }
        }
        dice[die] = number;
    }
}

static double best(const Position *position, int one, int other, int is_single) {
    static Turns turns;
    int dice[4] = {one, is_single ? 0 : other, 0, 0}, is_double = !is_single && one == other;
    if (is_double) dice[2] = dice[3] = one;
    turns.number = turns.most = turns.is_won = 0;
    use(&turns, *position, dice, 0, 1 + is_double, -1, 0);
    if (turns.is_won) return 1;
    double found = 0;
    for (int each = 0; each < turns.number; each++)
        if (turns.pips[each] == turns.most) {
            Position after = turned(&turns.ends[each]);
            double chance = 1 - chances[number_of(&after)];
            if (chance > found) found = chance;
        }
    return found;
}

static double chance_of(const Position *position) {
    double sum = 0;
    for (int one = 1; one <= 6; one++)
        for (int other = one; other <= 6; other++) sum += (one == other ? 1 : 2) * best(position, one, other, 0);
    return sum / 36;
}

/* Whether pieces that share a cell lie there as the rules let them. */
static int is_possible(const Position *position) {
    for (int side = 0; side < 2; side++) {
        if (count(position, side, off) == 2 || count(position, side, off) < 2 - pieces) return 0;
        for (int piece = 0; piece < 2; piece++) {
            int cell = position->at[side][piece], pinned = position->pinned[side][piece];
            if (cell == off ? pinned : cell == (side ? 0 : length)) return 0; /* the home of the other side */
            if (cell == off) continue;
            int own = count(position, side, cell), other = count(position, 1 - side, cell);
            if (pinned && (own > 1 || !other)) return 0;
            if (other && !pinned && !is_pinned(position, 1 - side, cell)) return 0;
            if (other && pinned && is_pinned(position, 1 - side, cell)) return 0;
        }
    }
    return 1;
}

static Position at(int own, int own2, int other, int other2, int pins) {
    Position position = {{{own, own2}, {other, other2}}, {{pins & 1, pins >> 1 & 1}, {pins >> 2 & 1, pins >> 3 & 1}}};
    return position;
}

int main(int argc, char **argv) {
    pieces = atoi(argv[1]), length = atoi(argv[2]), off = 2 * length;
    for (int cell = 0; cell < length && cell + 3 < argc; cell++) {
        wall[cell] = atoi(argv[cell + 3]);
        wall[cell + length] = wall[cell] < 0 ? -1 : (wall[cell] + length) % (2 * length);
    }
    for (int one = 0; one <= off; one++)
        for (int other = one; other <= off; other++) pair_of[one][other] = pair_of[other][one] = pairs++;
    size_t size = (size_t)pairs * pairs << 4, number = 0;
    chances = malloc(size * sizeof *chances);
    for (size_t each = 0; each < size; each++) chances[each] = 0.5;
    Position *all = malloc(size / 8 * sizeof *all);
    for (int own = off; own >= 0; own--)
        for (int own2 = off; own2 >= own; own2--)
            for (int other = off; other >= 0; other--)
                for (int other2 = off; other2 >= other; other2--)
                    for (int pins = 0; pins < 16; pins++) {
                        Position position = at(own, own2, other, other2, pins), sorted = position;
                        sort(&sorted);
                        if (!memcmp(&sorted, &position, sizeof sorted) && is_possible(&position)) {
                            if (number == size / 8) abort();
                            all[number++] = position;
                        }
                    }
    fprintf(stderr, "%zu positions\n", number);
    for (double change = 1; change > 1e-9;) {
        change = 0;
        for (size_t each = 0; each < number; each++) {
            double *chance = &chances[number_of(&all[each])], before = *chance;
            *chance = chance_of(&all[each]);
            if (fabs(*chance - before) > change) change = fabs(*chance - before);
        }
        fprintf(stderr, "%g\n", change);
    }
    Position start = at(0, pieces > 1 ? 0 : off, length, pieces > 1 ? length : off, 0);
    double first = 0;
    for (int die = 1; die <= 6; die++) first += best(&start, die, 0, 1) / 6;
    printf("%.6f\n", first);
    for (int own, own2, other, other2, pins; scanf("%d %d %d %d %d", &own, &own2, &other, &other2, &pins) == 5;) {
        Position position = at(own, own2, other, other2, pins);
        sort(&position);
        printf("%.6f\n", chances[number_of(&position)]);
    }
    return 0;
}
