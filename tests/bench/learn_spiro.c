/* Self-play of Spiro for learn_spiro.py, which hands over the board: positions, turns, values, learning, matches.

A position is that of pbm/robots/spiro/positions.py, numbered by the side that looks at it, and the terms of its value
are those of `Judge.counted`; learn_spiro.py compares both before it learns. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 66
#define OFF -1
#define TERMS 16
#define INPUTS (2 + 2 * TERMS)
#define PLACES 3 /* no pinned piece, one, more */
#define ROWS (PLACES * PLACES)
#define UNITS 5 /* of a cell and side: one piece, two, three, more, a pinned one */
#define WIDE (INPUTS + 2 * UNITS * CELLS)
#define HIDDEN 64
#define PARAMETERS (ROWS * INPUTS + HIDDEN * (WIDE + 2))
#define BEAM 100 /* how many ways go on after each die of a double, in games */
#define MOST 60000
#define SLOTS (1 << 18)

typedef unsigned __int128 Bits;
typedef struct { uint8_t own[CELLS], foe[CELLS], own_pinned[CELLS], foe_pinned[CELLS]; } Position;
typedef struct { uint8_t own[CELLS]; int jumps; Bits blots; uint64_t hash; } Turn;

static int length, size, pieces;
static int step[7][CELLS + 1], across[CELLS];
static double ways[CELLS + 1];
static uint64_t by_jump[CELLS][CELLS], by_step[CELLS][CELLS]; /* throws that hit a cell from another, own numbers */
static uint64_t zobrist[CELLS + 1];
static uint64_t seed;

void set_board(int length_, int pieces_, int *steps, int *jumps, double *ways_, uint64_t *hits) {
    length = length_, size = 2 * length, pieces = pieces_;
    for (int die = 1; die < 7; die++)
        for (int cell = 0; cell < size; cell++) step[die][cell] = steps[die * size + cell];
    for (int cell = 0; cell < size; cell++) across[cell] = jumps[cell];
    for (int cell = 0; cell <= size; cell++) ways[cell] = ways_[cell];
    for (int cell = 0; cell < size; cell++)
        for (int source = 0; source < size; source++) {
            by_jump[cell][source] = hits[2 * (cell * size + source)];
            by_step[cell][source] = hits[2 * (cell * size + source) + 1];
        }
    uint64_t one = 88172645463325252ull;
    for (int cell = 0; cell < CELLS; cell++) {
        for (int round = 0; round < 9; round++) one ^= one << 13, one ^= one >> 7, one ^= one << 17;
        zobrist[cell] = one | 1;
    }
}

static double uniform(void) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int die(void) { return 1 + (int)(6 * uniform()); }

static void turn_row(uint8_t *to, const uint8_t *from) {
    memcpy(to, from + length, length);
    memcpy(to + length, from, length);
}

static Position turned(const Position *position) {
    Position after;
    turn_row(after.own, position->foe), turn_row(after.foe, position->own);
    turn_row(after.own_pinned, position->foe_pinned), turn_row(after.foe_pinned, position->own_pinned);
    return after;
}

static int has_won(const Position *position) {
    for (int cell = 0; cell < size; cell++)
        if (position->own[cell] || position->own_pinned[cell]) return 0;
    return 1;
}

/* Turns */

static Turn levels[5][MOST];
static int counts[5];
static int32_t slot_stamp[SLOTS];
static uint64_t slot_key[SLOTS];
static int32_t stamp;

static int is_new(uint64_t key) {
    for (uint64_t at = key >> 20;; at++) {
        uint64_t slot = at & (SLOTS - 1);
        if (slot_stamp[slot] != stamp) {
            slot_stamp[slot] = stamp, slot_key[slot] = key;
            return 1;
        }
        if (slot_key[slot] == key) return 0;
    }
}

static uint64_t key_of(uint64_t hash, Bits blots, int jumps) {
    uint64_t key = hash + (uint64_t)blots * 0xd6e8feb86659fd93ull + (uint64_t)(blots >> 64) * 0xa0761d6478bd642full;
    key += (uint64_t)jumps * 0xe7037ed1a0b428dbull;
    key ^= key >> 32, key *= 0xd6e8feb86659fd93ull, key ^= key >> 29;
    return key;
}

static char is_blocked[CELLS + 1], is_single[CELLS];

static void add(int level, const Turn *turn, int cell, int target, Bits blots, int jumps) {
    uint64_t hash = turn->hash - zobrist[cell] + (target == OFF ? 0 : zobrist[target]);
    if (counts[level] == MOST || !is_new(key_of(hash, blots, jumps))) return;
    Turn *after = &levels[level][counts[level]++];
    memcpy(after->own, turn->own, CELLS);
    after->own[cell]--;
    if (target != OFF) after->own[target]++;
    after->blots = blots, after->jumps = jumps, after->hash = hash;
}

static void one_die_more(const Turn *from, int number, int level, int pips) {
    for (int at = 0; at < number; at++) {
        const Turn *turn = from + at;
        for (int cell = 0; cell < size; cell++) {
            if (!turn->own[cell]) continue;
            int target = step[pips][cell];
            if (target == OFF || !is_blocked[target]) add(level, turn, cell, target, turn->blots, turn->jumps);
            target = across[cell];
            if (!turn->jumps || target == OFF || is_blocked[target]) continue;
            int hits = is_single[target] && !turn->own[target] && !(turn->blots >> target & 1);
            if (turn->jumps == 3 + cell && !hits) continue;
            int left = turn->jumps != 2 ? 0 : hits ? 1 : 3 + target;
            add(level, turn, cell, target, hits ? turn->blots | (Bits)1 << target : turn->blots, left);
        }
    }
}

static const Position *hand;

static double loss(const Turn *turn) {
    double sum = 0;
    for (int cell = 0; cell < size; cell++) {
        sum += turn->own[cell] * ways[cell];
        if (hand->foe[cell] == 1 && !hand->own_pinned[cell] && (turn->own[cell] || turn->blots >> cell & 1))
            sum -= ways[0] - ways[(cell + length) % size];
    }
    return sum;
}

typedef struct { double loss; int at; } Ranked;
static int by_loss(const void *one, const void *other) {
    const Ranked *a = one, *b = other;
    return a->loss < b->loss ? -1 : a->loss > b->loss ? 1 : a->at - b->at;
}

static void keep_best(int level, int most) {
    static Ranked ranked[MOST];
    static Turn kept[MOST];
    if (counts[level] <= most) return;
    for (int at = 0; at < counts[level]; at++) ranked[at] = (Ranked){loss(&levels[level][at]), at};
    qsort(ranked, counts[level], sizeof *ranked, by_loss);
    for (int at = 0; at < most; at++) kept[at] = levels[level][ranked[at].at];
    memcpy(levels[level], kept, most * sizeof *kept), counts[level] = most;
}

static Position after(const Position *position, const Turn *turn) {
    Position found = *position;
    memcpy(found.own, turn->own, CELLS);
    for (int cell = 0; cell < size; cell++) {
        if (position->foe_pinned[cell]) found.foe[cell] = 1;
        found.foe_pinned[cell] = 0;
    }
    for (int cell = 0; cell < size; cell++)
        if (turn->blots >> cell & 1) found.foe[cell] = 0, found.foe[length]++;
    for (int cell = 0; cell < size; cell++)
        if (found.foe[cell] && found.own[cell]) found.foe[cell] = 0, found.foe_pinned[cell] = 1;
    return found;
}

/* All that legal turns lead to, at least the position itself; of a double the best *beam* after each die. */
int outcomes(const Position *position, int high, int low, int beam, Position *found) {
    int is_double = high == low, pinned = 0, full = -1, number = 0;
    hand = position;
    Turn start = {.jumps = is_double ? 2 : 1};
    memcpy(start.own, position->own, CELLS);
    for (int cell = 0; cell < size; cell++) {
        int foe = position->foe[cell], under = position->own_pinned[cell];
        is_blocked[cell] = foe && foe + under > 1;
        is_single[cell] = (foe == 1 && !under) || position->foe_pinned[cell] == 1;
        start.hash += zobrist[cell] * position->own[cell];
        pinned += under;
    }
    memset(counts, 0, sizeof counts);
    if (is_double) {
        const Turn *from = &start;
        for (int level = 0, before = 1; level < 4 && before; level++) {
            stamp++;
            one_die_more(from, before, level, high);
            keep_best(level, beam);
            from = levels[level], before = counts[level];
            if (before) full = level;
        }
    } else if (!low) {
        stamp++, one_die_more(&start, 1, 0, high);
        full = counts[0] ? 0 : -1;
    } else {
        stamp++, one_die_more(&start, 1, 0, high);
        stamp++, one_die_more(&start, 1, 1, low);
        stamp++, one_die_more(levels[0], counts[0], 2, low), one_die_more(levels[1], counts[1], 2, high);
        full = counts[2] ? 2 : counts[0] ? 0 : counts[1] ? 1 : -1;
    }
    if (full < 0) {
        found[0] = *position;
        return 1;
    }
    stamp++;
    for (int at = 0; at < counts[full]; at++)
        if (is_new(key_of(levels[full][at].hash, levels[full][at].blots, 0)))
            found[number++] = after(position, &levels[full][at]);
    for (int level = 0; level < 4 && !pinned; level++)
        for (int at = 0; level != full && at < counts[level]; at++)
            if (!levels[level][at].hash && is_new(key_of(0, levels[level][at].blots, 0)))
                found[number++] = after(position, &levels[level][at]);
    return number;
}

/* Values */

typedef struct { float terms[INPUTS]; int row, number; int16_t unit[4 * CELLS]; float value[4 * CELLS]; } Found;
static double scale[INPUTS];

static void count_men(const uint8_t *own, const uint8_t *pinning, int home, double *count, double *way, double *idle) {
    for (int cell = 0; cell < size; cell++) {
        int height = own[cell];
        if (!height) continue;
        double each = height * ways[(cell + home) % size];
        *way += each, count[4] += height;
        if (!pinning[cell]) *idle += each;
        if (height > 1) {
            count[1]++;
            if (height > 2 && cell != home) count[2] += height - 2;
        } else if (!pinning[cell]) count[0]++;
    }
    count[3] = own[home];
}

static void count_rest(const Position *position, double *count, double *way, double enemy_idle) {
    int free = 0, blocked = 0, number = 0, firmly = 0;
    double pinned_way = 0, free_way = *way;
    for (int cell = 0; cell < size; cell++) {
        if (position->own[cell]) {
            free++;
            for (int die = 1; die < 7; die++) {
                int target = step[die][cell];
                if (target == OFF) continue;
                blocked += position->foe[target] > 1 || (position->foe[target] && position->own_pinned[target]);
            }
            if (position->own[cell] == 1 && !position->foe_pinned[cell]) {
                uint64_t jumps = 0, steps = 0;
                for (int source = 0; source < size; source++)
                    if (position->foe[source]) jumps |= by_jump[cell][source], steps |= by_step[cell][source];
                double made = ways[0] - ways[cell], risk = __builtin_popcountll(steps) / 36.0;
                count[5] += __builtin_popcountll(jumps) / 36.0 * made, count[6] += risk, count[7] += risk * made;
            }
        }
        if (position->own_pinned[cell]) number++, pinned_way += ways[cell], firmly += position->foe[cell] > 1;
    }
    count[8] = blocked / 6.0, count[9] = free ? blocked / 6.0 / free : 1;
    if (!number) return;
    count[4] += number, *way += pinned_way;
    count[10] = number, count[11] = number * free_way, count[12] = firmly;
    count[13] = pinned_way, count[14] = enemy_idle, count[15] = number > 1;
}

static int has_rows, has_net; /* a row of weights for each number of pinned pieces; the network */
void set_kind(int rows, int net) { has_rows = rows, has_net = net; }

static void find(const Position *position, Found *found) {
    double own[TERMS] = {0}, foe[TERMS] = {0}, way = 0, foe_way = 0, idle = 0, foe_idle = 0;
    Position other = turned(position);
    count_men(position->own, position->foe_pinned, 0, own, &way, &idle);
    count_men(other.own, other.foe_pinned, 0, foe, &foe_way, &foe_idle);
    count_rest(position, own, &way, foe_idle);
    count_rest(&other, foe, &foe_way, idle);
    double part = 1 / sqrt(way + foe_way + 10);
    found->terms[0] = (foe_way - way) * part, found->terms[1] = part;
    for (int term = 0; term < TERMS; term++)
        found->terms[2 + term] = own[term] * part, found->terms[2 + TERMS + term] = foe[term] * part;
    int own_place = own[10] > 1 ? 2 : own[10], foe_place = foe[10] > 1 ? 2 : foe[10];
    found->row = has_rows ? PLACES * own_place + foe_place : 0;
    found->number = 0;
    if (!has_net) return;
    for (int cell = 0; cell < size; cell++) {
        const int heights[2] = {position->own[cell], position->foe[cell]};
        const int pins[2] = {position->own_pinned[cell], position->foe_pinned[cell]};
        for (int side = 0; side < 2; side++) {
            int first = (2 * cell + side) * UNITS, height = heights[side];
#define UNIT(place, worth) found->unit[found->number] = first + place, found->value[found->number++] = worth
            if (height == 1) { UNIT(0, 1); }
            if (height > 1) { UNIT(1, 1); }
            if (height > 2) { UNIT(2, 1); }
            if (height > 3) { UNIT(3, (height - 3) / 4.0f); }
            if (pins[side]) { UNIT(4, 1); }
        }
    }
}

void terms_of(const Position *position, float *terms) {
    Found found;
    find(position, &found);
    memcpy(terms, found.terms, sizeof found.terms);
}

static void hide(const float *weights, const Found *found, float *hidden) {
    const float *row = weights + ROWS * INPUTS;
    memcpy(hidden, row + HIDDEN * WIDE, HIDDEN * sizeof *hidden);
    for (int term = 0; term < INPUTS; term++) {
        float worth = found->terms[term] * scale[term];
        for (int unit = 0; unit < HIDDEN; unit++) hidden[unit] += worth * row[term * HIDDEN + unit];
    }
    for (int at = 0; at < found->number; at++) {
        const float *column = row + (INPUTS + found->unit[at]) * HIDDEN;
        float worth = found->value[at];
        for (int unit = 0; unit < HIDDEN; unit++) hidden[unit] += worth * column[unit];
    }
    for (int unit = 0; unit < HIDDEN; unit++) hidden[unit] = hidden[unit] > 0 ? hidden[unit] : 0;
}

static float odds(const float *weights, const Found *found) {
    float sum = 0, hidden[HIDDEN];
    const float *linear = weights + found->row * INPUTS;
    for (int term = 0; term < INPUTS; term++) sum += linear[term] * found->terms[term];
    if (!has_net) return sum;
    hide(weights, found, hidden);
    const float *out = weights + ROWS * INPUTS + HIDDEN * (WIDE + 1);
    for (int unit = 0; unit < HIDDEN; unit++) sum += out[unit] * hidden[unit];
    return sum;
}

static double chance(double value) { return 1 / (1 + exp(-(value > 30 ? 30 : value < -30 ? -30 : value))); }

double value_of(const Position *position, const float *weights) {
    Found found;
    find(position, &found);
    return odds(weights, &found);
}

static Position found_here[MOST + 4];
static Position first_position(void) {
    Position position;
    memset(&position, 0, sizeof position);
    position.own[0] = position.foe[length] = pieces;
    return position;
}

/* What the side to move sees after its best turn; at random if *stray*. *won* if that ends the game. */
static Position best_turn(const Position *position, int high, int low, const float *weights, int stray, int *won) {
    int number = outcomes(position, high, low, BEAM, found_here), best = 0;
    double most = -1e9;
    for (int at = 0; at < number; at++) {
        if (has_won(&found_here[at])) {
            *won = 1;
            return found_here[at];
        }
        if (stray || number == 1) continue;
        double worth = value_of(&found_here[at], weights);
        if (worth > most) most = worth, best = at;
    }
    *won = 0;
    return found_here[stray ? (int)(number * uniform()) : best];
}

/* Each pair of games has the same dice at its beginning and changed sides. Found are the points of the first player,
   the games that did not end, and all turns. *kinds* are those of `set_kind` for both; a network leaves the game to the
   *late* linear values after so many turns. */
void play_match(const float *first, const float *second, const float *late, const int *kinds, int turns, int games,
                int longest, uint64_t start, double *result) {
    result[0] = result[1] = result[2] = 0;
    for (int game = 0; game < games; game++) {
        Position position = first_position();
        int won = 0, number = 0, who = game & 1;
        seed = start + 1000003ull * (game / 2);
        for (int high = die(), low = 0; number < longest; number++, who = !who, high = die(), low = die()) {
            int is_late = kinds[2 * who + 1] && number >= turns;
            set_kind(is_late || kinds[2 * who], !is_late && kinds[2 * who + 1]);
            position = best_turn(&position, high, low, is_late ? late : who ? second : first, 0, &won);
            if (won) break;
            position = turned(&position);
        }
        result[0] += won ? !who : 0.5, result[1] += !won, result[2] += number;
    }
}

/* By what the logarithms of the odds are to be multiplied so that they fit the results of games between equal players:
   the factor that makes these results the likeliest. After so many turns the *late* weights play on. */
double sharpness(const float *weights, const float *late, int turns, int games, int longest, uint64_t start) {
    double *values = malloc((size_t)games * longest * sizeof *values), factor = 1;
    char *results = malloc((size_t)games * longest);
    int number = 0;
    seed = start;
    for (int game = 0; game < games; game++) {
        Position position = first_position();
        int first = number, won = 0;
        for (int high = die(), low = 0; number < first + longest; high = die(), low = die()) {
            position = best_turn(&position, high, low, number < first + turns ? weights : late, 0, &won);
            if (won) break;
            values[number++] = value_of(&position, weights);
            position = turned(&position);
        }
        for (int at = first; at < number; at++) results[at] = (number - at) % 2 == 0;
        if (!won) number = first;
    }
    for (int round = 0; round < 20; round++) { /* by Newton's method */
        double slope = 0, bend = 0;
        for (int at = 0; at < number; at++) {
            double expected = chance(factor * values[at]);
            slope += values[at] * (results[at] - expected);
            bend += values[at] * values[at] * expected * (1 - expected);
        }
        factor += slope / bend;
    }
    free(values), free(results);
    return factor;
}

/* Learning */

static void add_gradient(const float *weights, const Found *found, float error, float *gradient) {
    for (int term = 0; term < INPUTS; term++) gradient[found->row * INPUTS + term] += error * found->terms[term];
    if (!has_net) return;
    float hidden[HIDDEN], back[HIDDEN];
    hide(weights, found, hidden);
    const int first = ROWS * INPUTS, bias = first + HIDDEN * WIDE, out = bias + HIDDEN;
    for (int unit = 0; unit < HIDDEN; unit++) {
        gradient[out + unit] += error * hidden[unit];
        back[unit] = hidden[unit] > 0 ? error * weights[out + unit] : 0;
        gradient[bias + unit] += back[unit];
    }
    for (int term = 0; term < INPUTS; term++)
        for (int unit = 0; unit < HIDDEN; unit++)
            gradient[first + term * HIDDEN + unit] += back[unit] * found->terms[term] * scale[term];
    for (int at = 0; at < found->number; at++)
        for (int unit = 0; unit < HIDDEN; unit++)
            gradient[first + (INPUTS + found->unit[at]) * HIDDEN + unit] += back[unit] * found->value[at];
}

#define LONGEST 1000
typedef struct {
    double rate, linear, decay, trace, discount, stray; /* linear: times the rate, for the weights of the terms alone */
    int64_t games, batch, longest, usual; /* usual: a length up to which all positions of a game count fully */
    int64_t mixed; /* the first weights play on after a random number of turns, so many at most; 0 if they never do */
} Plan;

/* Learn from games of the weights against themselves; *weights* becomes the mean of what was learned last. */
void learn(float *weights, const float *late, const Plan *plan, uint64_t start) {
    static Found found[LONGEST];
    static char is_stray[LONGEST];
    static float gradient[PARAMETERS], first[PARAMETERS], second[PARAMETERS], mean[PARAMETERS];
    memset(first, 0, sizeof first), memset(second, 0, sizeof second), memset(gradient, 0, sizeof gradient);
    memcpy(mean, weights, sizeof mean);
    double positions = 0, slow = 1, quick = 1;
    const int last = has_net ? PARAMETERS : ROWS * INPUTS;
    for (int game = 0; game < plan->games; game++) {
        seed = start + 7919ull * game;
        Position position = first_position();
        int number = 0, won = 0, high = die(), low = 0;
        int turns = plan->mixed ? (int)(plan->mixed * uniform()) : LONGEST;
        for (; number < plan->longest; number++) {
            is_stray[number] = uniform() < (number < 8 ? 3 * plan->stray : plan->stray);
            position = best_turn(&position, high, low, number < turns ? weights : late, is_stray[number], &won);
            if (won) break;
            find(&position, &found[number]);
            position = turned(&position), high = die(), low = die();
        }
        double later = won ? 0 : 0.5, weight = number > plan->usual ? (double)plan->usual / number : 1;
        int knows = 1;
        for (int at = number - 1; at >= 0; at--) {
            double expected = chance(odds(weights, &found[at]));
            if (knows) {
                add_gradient(weights, &found[at], weight * (later - expected), gradient), positions += weight;
                later = plan->trace * later + (1 - plan->trace) * expected;
            } else later = expected;
            later = 0.5 - plan->discount * (later - 0.5);
            knows = !is_stray[at]; /* a turn at random says nothing of the position before it */
        }
        if ((game + 1) % plan->batch) continue;
        double rate = plan->rate * pow(plan->decay, (double)game / plan->games);
        slow *= 0.9, quick *= 0.999;
        for (int at = 0; at < last; at++) {
            float slope = gradient[at] / positions;
            first[at] = 0.9f * first[at] + 0.1f * slope;
            second[at] = 0.999f * second[at] + 0.001f * slope * slope;
            float change = rate * (first[at] / (1 - slow)) / (sqrt(second[at] / (1 - quick)) + 1e-7);
            weights[at] += at < ROWS * INPUTS ? plan->linear * change : change;
            mean[at] += fmax(0.001, 2.0 / (2 + (game + 1) / plan->batch)) * (weights[at] - mean[at]);
        }
        memset(gradient, 0, sizeof gradient), positions = 0;
    }
    memcpy(weights, mean, sizeof mean);
}

void set_scale(const double *scales) { memcpy(scale, scales, sizeof scale); }
