/* Solves Symple on a small board: by how many points the side to move wins, whatever the other one does.

   cc -O2 -DN=5 -o solve_symple solve_symple.c && echo "8 0 0 0" | ./solve_symple

   Each line of the input has the penalty, the stones of White and of Black as sets of bits, bit x + N * y for the
   point in column x and row y, and the side to move, 0 for White. Each line of the output has the score of the side to
   move minus that of the other one at the end, and how many positions were looked at. Alpha-beta search with windows of
   one point (Plaat and others 1996, "Best-first fixed-depth minimax algorithms") and a table of positions, in which
   those are one that differ by a turn or a reflection of the board. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS (N * N)
#define ALL ((1u << CELLS) - 1)
#define MOST_TURNS 4096
#define MOST_POINTS 127
#ifndef ENTRIES
#define ENTRIES (1u << 24)
#endif

typedef uint32_t Set;

typedef struct {
    uint64_t key;
    int8_t lower, upper;
    Set best; /* the turn that was best, on the board as the table has it */
} Entry;

typedef struct {
    Set stones;
    int rank;
} Turn;

static Set left_column, right_column, bytes[8][4][256];
static Entry *table;
static int penalty;
static uint64_t looked;

static Set near(Set cells) {
    return (((cells & ~left_column) >> 1) | ((cells & ~right_column) << 1) | (cells >> N) | (cells << N)) & ALL & ~cells;
}

static Set group_of(Set start, Set among) {
    for (Set more; (more = near(start) & among); start |= more) {}
    return start;
}

static int groups_of(Set stones, Set *groups) {
    int count = 0;
    while (stones) {
        groups[count] = group_of(stones & -stones, stones);
        stones ^= groups[count++];
    }
    return count;
}

static int compare(const void *one, const void *other) {
    return ((const Turn *)other)->rank - ((const Turn *)one)->rank;
}

/* Growth: groups are decided one after the other; one is left out only if no point could still grow it. */

typedef struct {
    Set rings[CELLS], vacant, grown_of[CELLS];
    int groups, count, is_partial;
    Turn *turns;
} Growth;

static void grow(Growth *growth, int at, Set grown, Set left_out, Set stones) {
    while (at < growth->groups && (grown >> at & 1)) at++;
    if (at == growth->groups) {
        if (!stones) return;
        if (!growth->is_partial)
            for (Set rest = growth->vacant & ~stones; rest; rest &= rest - 1) {
                Set of = growth->grown_of[__builtin_ctz(rest)];
                if (of && !(of & grown)) return;
            }
        if (growth->count < MOST_TURNS) growth->turns[growth->count++].stones = stones;
        else abort();
        return;
    }
    for (Set rest = growth->rings[at] & growth->vacant; rest; rest &= rest - 1) {
        Set of = growth->grown_of[__builtin_ctz(rest)];
        if (!(of & (grown | left_out))) grow(growth, at + 1, grown | of, left_out, stones | (rest & -rest));
    }
    grow(growth, at + 1, grown, left_out | 1u << at, stones);
}

static int list(Set own, Set enemy, int is_black, Turn *turns) {
    Growth growth = {.vacant = ALL & ~(own | enemy), .turns = turns};
    Set groups[CELLS], others[CELLS];
    growth.groups = groups_of(own, groups);
    for (int each = 0; each < growth.groups; each++) {
        growth.rings[each] = near(groups[each]);
        for (Set rest = growth.rings[each]; rest; rest &= rest - 1) growth.grown_of[__builtin_ctz(rest)] |= 1u << each;
    }
    grow(&growth, 0, 0, 0, 0);
    int is_small = growth.groups == __builtin_popcount(own) && groups_of(enemy, others) == __builtin_popcount(enemy);
    if (is_black && is_small && own) {
        Turn *parts = malloc(MOST_TURNS * sizeof *parts);
        Growth partial = growth;
        partial.is_partial = 1, partial.count = 0, partial.turns = parts;
        grow(&partial, 0, 0, 0, 0);
        for (int each = 0; each < partial.count; each++) {
            Set with = own | parts[each].stones;
            for (Set rest = growth.vacant & ~with & ~near(with); rest; rest &= rest - 1) {
                if (growth.count == MOST_TURNS) abort();
                turns[growth.count++].stones = parts[each].stones | (rest & -rest);
            }
        }
        free(parts);
    }
    for (Set rest = growth.vacant & ~near(own); rest; rest &= rest - 1) turns[growth.count++].stones = rest & -rest;
    return growth.count;
}

static int score(Set stones) {
    Set groups[CELLS];
    return __builtin_popcount(stones) - penalty * groups_of(stones, groups);
}

static Set turned(Set cells, int way) {
    return bytes[way][0][cells & 255] | bytes[way][1][cells >> 8 & 255] | bytes[way][2][cells >> 16 & 255] |
           bytes[way][3][cells >> 24];
}

static Entry *entry_of(Set own, Set enemy, int is_black, uint64_t *key, int *way) {
    uint64_t least = UINT64_MAX;
    for (int each = 0; each < 8; each++) {
        uint64_t one = (uint64_t)turned(own, each) << CELLS | turned(enemy, each);
        if (one < least) least = one, *way = each;
    }
    *key = least << 1 | (uint64_t)is_black | 1ull << 63;
    return &table[(*key * 0x9e3779b97f4a7c15ull) >> 32 & (ENTRIES - 1)];
}

/* Whether the side to move gets at least so much more than the other one. */
static int reaches(Set own, Set enemy, int is_black, int wanted) {
    if ((own | enemy) == ALL) return score(own) - score(enemy) >= wanted;
    looked++;
    uint64_t key;
    int way;
    Entry *entry = entry_of(own, enemy, is_black, &key, &way);
    Set best = 0;
    if (entry->key == key) {
        if (entry->lower >= wanted) return 1;
        if (entry->upper < wanted) return 0;
        best = entry->best;
    }
    Turn turns[MOST_TURNS];
    int count = list(own, enemy, is_black, turns), is_reached = 0;
    Set found = 0;
    for (int each = 0; each < count; each++) {
        Set stones = turns[each].stones, after = own | stones;
        int rank = 2 * __builtin_popcount(near(after) & ~enemy) - __builtin_popcount(near(enemy) & ~after);
        rank += 4 * __builtin_popcount(stones & near(own));
        if (best && turned(stones, way) == best) rank += 1 << 20;
        turns[each].rank = rank;
    }
    qsort(turns, count, sizeof *turns, compare);
    for (int each = 0; each < count && !is_reached; each++) {
        is_reached = !reaches(enemy, own | turns[each].stones, 1 - is_black, 1 - wanted);
        if (is_reached) found = turns[each].stones;
    }
    if (entry->key != key) *entry = (Entry){.key = key, .lower = -MOST_POINTS, .upper = MOST_POINTS};
    if (is_reached) entry->lower = (int8_t)wanted, entry->best = turned(found, way);
    else entry->upper = (int8_t)(wanted - 1);
    return is_reached;
}

static int value(Set own, Set enemy, int is_black) {
    int low = -MOST_POINTS + 1, high = MOST_POINTS;
    if (reaches(own, enemy, is_black, 1)) low = 1;
    else high = 0;
    for (int step = 2; low < high; step *= 2) { /* nearer and nearer, from nought on */
        int middle = high == MOST_POINTS ? low + step : low == -MOST_POINTS + 1 ? high - step + 1 : (low + high + 1) / 2;
        if (reaches(own, enemy, is_black, middle)) low = middle;
        else high = middle - 1;
    }
    return low;
}

int main(void) {
    unsigned white, black, side;
    for (int x = 0; x < N; x++)
        for (int y = 0; y < N; y++) {
            int ways[8][2] = {{x, y}, {y, x}, {N - 1 - x, y}, {y, N - 1 - x}, {x, N - 1 - y}, {N - 1 - y, x},
                              {N - 1 - x, N - 1 - y}, {N - 1 - y, N - 1 - x}};
            for (int each = 0; each < 8; each++)
                for (int byte = 0, cell = x + N * y; byte < 256; byte++)
                    if (byte >> cell % 8 & 1) bytes[each][cell / 8][byte] |= 1u << (ways[each][0] + N * ways[each][1]);
            if (x == 0) left_column |= 1u << (x + N * y);
            if (x == N - 1) right_column |= 1u << (x + N * y);
        }
    table = calloc(ENTRIES, sizeof *table);
    for (int before = -1; scanf("%d %u %u %u", &penalty, &white, &black, &side) == 4; before = penalty) {
        if (penalty != before)
            for (unsigned each = 0; each < ENTRIES; each++) table[each].key = 0;
        looked = 0;
        int found = side ? value(black, white, 1) : value(white, black, 0);
        printf("%d %llu\n", found, (unsigned long long)looked);
        fflush(stdout);
    }
    return 0;
}
