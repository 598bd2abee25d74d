import { createServer as createSocketServer, connect, type Server } from 'node:net'
import { createClient } from '@x/client'
import { connectStdio, connectStreams, isStdioError, serveStdio, type StdioServer } from '@x/transport-stdio'
import { server } from './server.ts'

// #region serve
export function serve(): StdioServer {
  const service = serveStdio(server)
  // The process ends within a second after that.
  void service.closed.then(() => console.error('The client has disconnected'))
  return service
}
// #endregion

// #region connect
export async function greetOverStdio(program: string): Promise<unknown> {
  await using connection = connectStdio({
    command: process.execPath,
    args: [program],
    env: { GREETING: 'Hello' },
    stderr: (line) => console.error(`server: ${line}`),
    log: ({ message }) => console.error(message),
    onExit: ({ exitCode, signal, expected }) => {
      if (!expected) console.error(`The server ended with ${signal ?? exitCode}`)
    },
  })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const { content } = await client.callTool('greet', { name: 'Ada' })
  return content
}
// #endregion

// #region errors
/** True if the process ended during the call. The next call starts it again. */
export function isRetryable(failure: unknown): boolean {
  const cause = failure instanceof Error ? failure.cause : undefined
  return isStdioError(cause) && cause.code === 'exited'
}
// #endregion

// #region sockets
export function listen(path: string): Server {
  const sockets = createSocketServer((socket) => {
    serveStdio(server, { input: socket, output: socket, principal: { subject: 'a user of this machine' } })
  })
  return sockets.listen(path)
}

export async function listToolsOverSocket(path: string): Promise<string[]> {
  const socket = connect(path)
  await using connection = connectStreams({ input: socket, output: socket })
  const tools = await createClient(connection, { name: 'host', version: '1.0.0' }).listTools()
  return tools.map(({ name }) => name)
}
// #endregion
