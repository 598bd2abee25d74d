import { type Client, type ClientOptions, createClient } from '@x/client'
import { oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import { type AnyConnection, connectAny } from '@x/legacy/client'
import { type TasksClient, tasksClient } from '@x/tasks/client'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'

/** The option of commands that use a server. */
export interface TargetOptions {
  readonly token?: string
}

/** A server that a command uses: its URL, or the command that starts it. */
export type ServerTarget = URL | { readonly command: string; readonly args: readonly string[] }

/** Parses a URL, or a command line whose words may be in quotes, such as `npx -y "my server"`. */
export function parseTarget(text: string): ServerTarget {
  if (/^https?:\/\//i.test(text)) {
    if (URL.canParse(text)) return new URL(text)
    throw new CliError('usage', `"${text}" is no URL`)
  }
  const [command, ...args] = Array.from(text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, ...groups]) =>
    groups.find((group) => group !== undefined),
  ).filter((word) => word !== undefined)
  if (command === undefined) throw new CliError('usage', 'Write the URL of a server, or the command that starts it')
  return { command, args }
}

const clientName = 'mcpx'

/**
 * Connects to a server of any revision. A person at a terminal logs in with a browser if the server requires it. The
 * tokens are stored in a folder of the user.
 */
function connectTarget(target: ServerTarget, { token }: TargetOptions, { input }: CliIo): AnyConnection {
  if (!(target instanceof URL)) return connectAny(target)
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const canLogIn = token === undefined && input.isTTY === true
  const auth = canLogIn
    ? oauth({ client: { name: clientName }, redirect: loopbackRedirect(), store: fileStore(clientName) })
    : undefined
  return connectAny(target, { http: { headers, auth } })
}

/** Runs a function with a client of a server, and closes the connection afterwards. */
export async function withClient<T>(
  text: string,
  { options, io, client: clientOptions = {} }: WithClientOptions,
  run: (client: Client & { readonly tasks: TasksClient }) => Promise<T>,
): Promise<T> {
  const connection = connectTarget(parseTarget(text), options, io)
  try {
    const info = { name: clientName, version: '1.0.0' }
    return await run(createClient(connection, { ...info, ...clientOptions, extensions: [tasksClient()] }))
  } finally {
    await connection.close()
  }
}

interface WithClientOptions {
  readonly options: TargetOptions
  readonly io: CliIo
  readonly client?: Partial<Omit<ClientOptions, 'extensions'>>
}
