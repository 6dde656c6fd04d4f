# An agent that asks something harmless again and again, and writes down how long each answer took:
# from the moment the dialog was drawn to the moment the key was read, in milliseconds.
#
#   answers.py LOG COUNT
import os, sys, time, tty

log = open(sys.argv[1], "a", buffering=1)
WIDTH = os.get_terminal_size().columns
RULE, FENCE = "─" * WIDTH, "╌" * WIDTH


def draw(rows):
    sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(rows))
    sys.stdout.flush()


tty.setraw(0)
for number in range(int(sys.argv[2])):
    # Long enough for a watcher to see that it does something else.
    draw(["", "● at work", "", RULE, "❯\u00a0", RULE])
    time.sleep(0.7)
    draw(["", RULE, " Bash command", FENCE, f" ls a{number}", FENCE, " Do you want to proceed?", " ❯ 1. Yes",
          "   2. Yes, and don't ask again this session", "   3. No", "", " Esc to cancel · Tab to amend"])
    asked = time.monotonic()
    if os.read(0, 1) == b"1":
        log.write(f"{(time.monotonic() - asked) * 1000:.2f}\n")
draw(["", "● done", "", RULE, "❯\u00a0", RULE])
time.sleep(3600)
