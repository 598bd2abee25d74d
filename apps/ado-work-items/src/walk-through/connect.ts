import { type Client, type ClientEvent, type ClientExtension, createClient } from '@x/client'
import type { Middleware } from '@x/exchange'
import type { CallToolResult, ClientCapabilities } from '@x/schema'
import { type SessionsClient, sessionsClient } from '@x/sessions/client'
import { type TasksClient, tasksClient } from '@x/tasks/client'
import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { type Instance, readInstance } from '../fleet/instance-meta.ts'

/** The client event for one response of a call. */
export type RoundEvent = Extract<ClientEvent, { readonly type: 'round' }>

/** The server, the user, and the receivers of what a client observes. */
export interface ConnectOptions {
  readonly url: string
  /** The login of the user. Undefined for a server without a login. */
  readonly auth?: HttpAuthorizer | undefined
  readonly capabilities?: ClientCapabilities | undefined
  /** Receives the instance of each response. */
  readonly onInstance: (instance: Instance) => void
  /** Receives each round of the client's calls. */
  readonly onRound?: (round: RoundEvent) => void
}

/** Creates a client over HTTP, with sessions and tasks. Its requests go to the instances in turns. */
export function connect({ url, auth, capabilities, onInstance, onRound }: ConnectOptions): Client & {
  readonly sessions: SessionsClient
  readonly tasks: TasksClient
} {
  const watchInstances: Middleware = (next) => async (request, call) => {
    const response = await next(request, call)
    const instance = readInstance(response)
    if (instance !== undefined) onInstance(instance)
    return response
  }
  const watchRounds: ClientExtension = {
    extends: 'client',
    name: 'watchRounds',
    start: () => ({ observe: (event) => event.type === 'round' && onRound?.(event) }),
  }
  // Sessions and tasks name their server, and no user, so that another client can try to use them.
  const own = { target: url, user: null }
  return createClient(connectHttp(url, { auth }), {
    name: 'walk-through',
    version: '0.1.0',
    // The walk-through shows the responses of the server.
    cache: false,
    capabilities,
    use: [watchInstances],
    extensions: [sessionsClient(own), tasksClient(own), watchRounds],
  })
}

/** Returns the lines of a result's text. */
export function textOf(result: CallToolResult): string[] {
  return result.content.flatMap((block) => (block.type === 'text' ? block.text.split('\n') : []))
}
