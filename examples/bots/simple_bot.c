/* A bot for the arena in C, without a JSON parser: it reads the list of legal moves, which ends every question.
 *
 *   cc -O2 -o simple_bot examples/bots/simple_bot.c && tonk check-bot cmd:./simple_bot
 *
 * It lays and hits what it can, drops at twelve points or less, and throws its dearest card. docs/BOTS.md
 * describes the lines. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 17]; /* longer than any question */

/* Points of a card at the usual values. */
static int worth(const char *card) {
    static const char ranks[] = "A23456789TJQK";
    const char *at = strchr(ranks, card[0]);
    int rank = at && card[1] != 'k' ? (int)(at - ranks) + 1 : 0;
    return rank > 10 ? 10 : rank;
}

static int gladness(const char *move, int count) {
    if (!strncmp(move, "claim", 5)) return 90;
    if (!strncmp(move, "spread", 6)) return 80;
    if (!strncmp(move, "hit", 3) || !strncmp(move, "slap", 4) || !strncmp(move, "target", 6)) return 70;
    if (!strncmp(move, "drop", 4)) return count <= 12 ? 60 : 1;
    if (!strncmp(move, "stock", 5) || !strncmp(move, "keep", 4)) return 50;
    if (!strncmp(move, "discard", 7)) return 20 + worth(move + 8);
    return 2;
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) {
            puts("ready tonk-bot/1");
        } else if (strstr(line, "\"type\":\"move\"")) {
            const char *count = strstr(line, "\"count\":"), *best = NULL;
            char *legal = strstr(line, "\"legal\":");
            int most = -1, points = count ? atoi(count + 8) : 99;
            if (!legal) return 1;
            /* Moves stand in quotes; a spread may have brackets in it. */
            for (char *move = strchr(legal, ':'); (move = strchr(move + 1, '"'));) {
                char *end = strchr(++move, '"');
                int glad = gladness(move, points);
                if (!end) break;
                *end = 0;
                if (glad > most) most = glad, best = move;
                move = end;
            }
            if (!best) return 1;
            puts(best);
        } else if (strstr(line, "\"type\":\"bye\"")) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}
