# Scenes that scripts/record-screens, which reads this file, can record by themselves: `BIV_SCENES` names one.
# shellcheck shell=bash

# question READY SIGN: what the agent asks when its model wants to know something.
question() {
    see "$1"
    sleep 3
    tell 'model:ask Which stove? | Gas | Wood'
    see "$2"
    sleep 4
    keep question real-ask 80 120
    # The field for an answer in words of one's own.
    case "$agent" in
    copilot) press Down Down ;;
    *) press 3 ;;
    esac
    # Some of them never stand still while they ask.
    sleep 3
    keep question real-ask-own 80
    press -l 'a tiled one'
    sleep 3
    keep question real-ask-words 80
    press Escape
    settle
}

# failure READY: while the agent asks again, and after it has given up.
failure() {
    see "$1"
    sleep 3
    # These ask again for minutes after a 500, and not at all after a 400.
    case "$agent" in
    gemini | kimi | vibe) tell 'model:fail 400' ;;
    *) tell 'model:fail 500' ;;
    esac
    sleep 3
    if tm capture-pane -p -t "=$agent:" | grep -qi retrying; then keep busy real-retrying 80; fi
    sleep 5
    settle
    while tm capture-pane -p -t "=$agent:" | grep -qi 'retrying (\|retrying in'; do settle; done
    see "$1"
    keep idle real-failed 80 120
}

# subject READY: requests that are shown in a form of their own.
subject() {
    see "$1"
    sleep 3
    case "$agent" in
    codex)
        # It takes several rows of the box.
        paste "model:runs \"cat >guests <<'END'\\n$(printf '%s\\n' guest{1..25})END\""
        sleep 2
        press Enter
        see 'Would you like to run'
        keep approval real-cut 80 120
        ;;
    copilot)
        tell 'model:run cat /etc/hostname /etc/os-release'
        see 'enter to select'
        keep approval real-path 80 120
        ;;
    esac
    press Escape
    settle
}

# own_command READY: a shell command of the user's own, before it prints and after it has printed much.
own_command() {
    see "$1"
    sleep 3
    press '!'
    sleep 1.5
    # What Vibe shows is a text in its box, the mark too.
    [ "$agent" = vibe ] || keep menu real-shell-mode 80 120
    press -l 'sleep 4; seq 60; sleep 12'
    sleep 1.5
    [ "$agent" = vibe ] || keep menu real-shell-mode-typed 80
    press Enter
    sleep 1
    keep busy real-own-command 80
    sleep 5
    keep busy real-own-command-prints 80 120
}

# vim_mode: an empty input box in both modes, and a text in it.
vim_mode() {
    # The first one is a prompt by itself, the second says the mode below.
    see "Press '|-- (NORMAL|INSERT) --"
    sleep 3
    # They begin in different modes.
    press Escape
    sleep 1
    press i
    sleep 1
    keep idle real-vim-insert 80
    press -l 'half a sentence'
    sleep 1
    press Escape
    sleep 1
    keep idle real-vim-draft 80
    press 0 D
    sleep 1
    keep idle real-vim-normal 80
}

# scene NAME: one of those by itself, in a home that knows the directory.
scene() {
    settings true
    if [ "$1" = vim_mode ]; then
        sed -i '1s/^{/{"general":{"vimMode":true},/' "$home/.gemini/settings.json"
        sed -i 's/"enableAutoUpdate":false/&,"vimMode":true/' "$home/.qwen/settings.json"
    fi
    case "$agent" in
    claude) start claude && "$1" '^❯' 'Enter to select' ;;
    codex) start codex --no-daemon --no-alt-screen && "$1" 'Ask Codex' ;;
    gemini) start gemini && "$1" 'Type your message' 'Enter to select' ;;
    copilot) start copilot && "$1" '/ commands' 'Gas' ;;
    qwen)
        start env OPENAI_API_KEY="$key" OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=test \
            QWEN_CODE_NO_RELAUNCH=true qwen
        "$1" 'Type your message' 'Gas'
        ;;
    kimi)
        start kimi
        see 'Trust this folder'
        press Enter
        "$1" '│ >' 'Gas'
        ;;
    vibe) start vibe && "$1" 'PID [0-9]' 'Gas' ;;
    opencode) start opencode && "$1" 'ctrl\+p commands' ;;
    kilo)
        rm -rf "$home/.config/opencode"
        start kilo
        "$1" 'ctrl\+p commands'
        ;;
    aider) start aider && "$1" '^([a-z]+)?> *$' ;;
    esac
    tm kill-session -t "=$agent" 2>/dev/null || true
}
