# An agent that changes its mind: it shows one dialog after the other and swaps them at random
# moments, answered or not. What it is told, and which dialog stood then, goes into a file.
#
#   swapper.py LOG SEED
import os, random, select, sys, termios, time, tty

log = open(sys.argv[1], "a", buffering=1)
dice = random.Random(int(sys.argv[2]))
WIDTH = os.get_terminal_size().columns
RULE, FENCE = "─" * WIDTH, "╌" * WIDTH
# A key that crosses a new dialog on its way meets it here, before anyone could have seen it. No
# program can tell the two apart; so close to the change a key counts for nothing.
CROSSING = 0.02


def show(number):
    harmless = dice.random() < 0.5
    command = f"ls a{number}" if harmless else f"rm -rf a{number}"
    rows = ["", RULE, " Bash command", FENCE, f" {command}", FENCE, " Do you want to proceed?", " ❯ 1. Yes",
            "   2. Yes, and don't ask again this session", "   3. No", "", " Esc to cancel · Tab to amend"]
    sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(rows))
    sys.stdout.flush()
    return harmless, time.monotonic()


def main():
    number = 0
    while True:
        number += 1
        harmless, shown = show(number)
        until = shown + dice.uniform(0.03, 0.35)
        while (left := until - time.monotonic()) > 0:
            if not select.select([sys.stdin], [], [], left)[0]:
                break
            key = os.read(0, 1).decode(errors="replace")
            age = time.monotonic() - shown
            right = key == ("1" if harmless else "3")
            what = "right" if right else "crossed" if age < CROSSING else "wrong"
            log.write(f"{what} {number} {'harmless' if harmless else 'harmful'} {key} {age:.4f}\n")
            break


before = termios.tcgetattr(0)
tty.setraw(0)
try:
    main()
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
