# An agent that changes its mind: it shows one dialog after the other and swaps them at random
# moments, answered or not. What it is told, and which dialog stood then, goes into a file.
#
#   swapper.py LOG SEED
#
# Which dialog stood is known exactly. With each one goes a question to the terminal (where is the
# cursor?); its answer comes in order with the keys. A key that arrives before that answer was sent
# while the dialog before was on the screen, and is held against that one.
import os, random, select, sys, time, tty

log = open(sys.argv[1], "a", buffering=1)
dice = random.Random(int(sys.argv[2]))
WIDTH = os.get_terminal_size().columns
RULE, FENCE = "─" * WIDTH, "╌" * WIDTH


class Dialog:
    def __init__(self, number):
        self.number = number
        self.harmless = dice.random() < 0.5
        self.answered = False
        command = f"ls a{number}" if self.harmless else f"rm -rf a{number}"
        rows = ["", RULE, " Bash command", FENCE, f" {command}", FENCE, " Do you want to proceed?", " ❯ 1. Yes",
                "   2. Yes, and don't ask again this session", "   3. No", "", " Esc to cancel · Tab to amend"]
        sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(rows) + "\x1b[6n")
        sys.stdout.flush()

    def take(self, key):
        right = key == ("1" if self.harmless else "3") and not self.answered
        kind = "harmless" if self.harmless else "harmful"
        log.write(f"{'right' if right else 'wrong'} {self.number} {kind} {key}{' again' if self.answered else ''}\n")
        self.answered = True


def main():
    standing, drawn = None, []
    number, due, report = 0, 0.0, ""
    while True:
        now = time.monotonic()
        if now >= due:
            number += 1
            drawn.append(Dialog(number))
            due = now + dice.uniform(0.03, 0.35)
        if not select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            continue
        for key in os.read(0, 1024).decode(errors="replace"):
            if report or key == "\x1b":
                report += key
                if key == "R":
                    # The terminal shows the next one from here on.
                    standing, report = drawn.pop(0), ""
            elif standing:
                standing.take(key)
                due = min(due, time.monotonic() + 0.01)


tty.setraw(0)
main()
