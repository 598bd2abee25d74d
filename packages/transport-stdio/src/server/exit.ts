/** How long a program may go on after its service has ended, in milliseconds. */
const exitMs = 1000

/**
 * Lets the process end: by itself when nothing keeps it, and otherwise after a moment in which a program may still put
 * its own things in order. A handler's open connection would leave an orphan behind.
 */
export function exitSoon(): void {
  setTimeout(() => process.exit(), exitMs).unref()
}
