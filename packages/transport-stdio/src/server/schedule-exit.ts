/** The time in milliseconds that a program may run after its service has ended. */
const exitDelayMs = 1000

/**
 * Lets the process exit: by itself, or forced after a delay in which the program may clean up. A handler's open
 * connection would otherwise leave an orphan process.
 */
export function scheduleExit(): void {
  setTimeout(() => process.exit(), exitDelayMs).unref()
}
