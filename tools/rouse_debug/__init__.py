"""Reads the tasks of a rouse program from its memory: of a core file, a process, or in a debugger.

    target.py        what memory is read from; problems that are told to people
    elf.py core.py   executables and core files
    process.py       a process that goes on meanwhile, or is stopped
    layout.py        where the library says that things are
    shapes.py        what a task waits for
    tasks.py         the tasks of each scheduler
    snapshot.py      groups of them, who waits for whom
    write.py         text, JSON and folded stacks, as rouse::sight::dump writes them
    frame.py gdb_commands.py lldb_commands.py   inside the debuggers
    cli.py           tools/rouse-debug

Standard library only. What is read may be anything: every loop has an end, and what can't be is said in a message.
"""
