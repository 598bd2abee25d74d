/** What a user installs, and what it may hold, our own packages and zod included. */
export interface InstallRow {
  readonly title: string
  readonly names: readonly string[]
  /**
   * The most that may be installed, in packages and in bytes of files. It goes down with what is saved, and up for a
   * reason.
   */
  readonly packages: number
  readonly bytes: number
}

const megabyte = 1_000_000

/** What a server or a client installs. */
export const ceilings: readonly InstallRow[] = [
  {
    title: 'a stdio server',
    names: ['@x/server', '@x/transport-stdio', 'zod'],
    packages: 8,
    bytes: 9.2 * megabyte,
  },
  {
    title: 'an HTTP server',
    names: ['@x/server', '@x/transport-http', 'zod'],
    packages: 10,
    // 11.5 before the handlers for Lambda.
    bytes: 11.6 * megabyte,
  },
  { title: 'a client', names: ['@x/client', '@x/transport-http'], packages: 8, bytes: 10.5 * megabyte },
]
