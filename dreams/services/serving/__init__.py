"""`serve`: runs the web server and the queue in one command, and leaves no process behind.

The web server runs in this process. The queue runs as a child in a process group of its own (`cluster`), watched
and restarted by a supervisor; it ends by itself when its parent is gone. Start reading at `lifecycle`.
"""
