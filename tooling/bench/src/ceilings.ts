/** The packages that a user installs, and the limits of the install. The limits include our own packages and zod. */
export interface InstallRow {
  readonly title: string
  readonly names: readonly string[]
  /**
   * The limits in packages and in bytes of files. A change that saves bytes lowers them. A change that raises them
   * needs a reason.
   */
  readonly packages: number
  readonly bytes: number
}

const megabyte = 1_000_000

/** The installs of a server and of a client. */
export const ceilings: readonly InstallRow[] = [
  {
    title: 'a stdio server',
    names: ['@x/server', '@x/transport-stdio', 'zod'],
    packages: 9,
    // The capability table, the checks of schemas against hosts and the join of packages take 0.1 MB.
    bytes: 9.7 * megabyte,
  },
  {
    title: 'an HTTP server',
    names: ['@x/server', '@x/transport-http', 'zod'],
    packages: 11,
    // The handlers for Lambda take 0.1 MB.
    bytes: 11.8 * megabyte,
  },
  // The formats of model APIs take 0.1 MB.
  { title: 'a client', names: ['@x/client', '@x/transport-http'], packages: 9, bytes: 10.9 * megabyte },
]
