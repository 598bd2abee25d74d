import { errorRecord, type Ledger, type Log, type Runtime } from '@x/core'
import type { Call, Server } from '@x/exchange'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import type { Availability } from '../upstream/availability.ts'
import { Connections } from './connections.ts'
import { forward, type ForwardContext } from './forward.ts'
import { HeaderParamTools } from './header-params.ts'
import { RunningCalls } from './running-calls.ts'
import type { CallerCredential, UpstreamOptions } from '../upstream/upstream.ts'

/** The link to one upstream. */
export interface Hop {
  /** Sends a request of a host to the upstream. Resolves with an error that names the upstream if it gives no answer. */
  exchange(request: RpcRequest, call: Call, credential?: CallerCredential): Promise<RpcResponse>
  /** Forwards a notification of a host. */
  notify(notification: RpcNotification, call: Call): void
  /** Returns true if calls that wait for answers can only continue in this process. */
  keepsCalls(): boolean
  close(): Promise<void>
}

/** The dependencies that every {@link Hop} of a proxy or gateway shares. */
export interface HopOptions {
  /** The name of the upstream in errors and in the log. */
  readonly name: string
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
  /** Milliseconds without a message after which a call is given up. Default: 30 minutes. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds that the first answer of the upstream may take. Default: 30 seconds. */
  readonly describeTimeoutMs?: number | undefined
  readonly hasCredentials?: boolean | undefined
  readonly availability?: Availability | undefined
}

/** Creates the hop to an upstream outside of this process. */
export function connectHop(upstream: UpstreamOptions, options: HopOptions): Hop {
  const { ledger, runtime, log, hasCredentials = false, describeTimeoutMs, availability } = options
  const forwardContext = createForwardContext(options)
  const connections = new Connections({
    upstream,
    hasCredentials,
    describeTimeoutMs,
    forwardContext,
    ledger,
    runtime,
    log,
  })
  availability?.onChange(() => {
    if (availability.state === 'away') connections.replaceProcess()
  })
  return {
    exchange: (request, call, credential) => connections.exchange(request, call, credential),
    notify: (notification, call) => connections.notify(notification, call),
    keepsCalls: () => connections.keepsCalls,
    close: async () => {
      forwardContext.running.close()
      await connections.close()
    },
  }
}

/** Creates the hop to a server in this process, which receives the calls of hosts with their principal. */
export function serverHop(server: Server, options: HopOptions): Hop {
  const context = createForwardContext(options)
  const detachHost = server.attachHost()
  return {
    exchange: (request, call) => forward(server.exchange, request, { call, context }),
    notify: (notification, call) => {
      try {
        server.receive(notification, call)
      } catch (error) {
        options.log(errorRecord(error, { method: notification.method, name: options.name }))
      }
    },
    keepsCalls: () => false,
    close: async () => {
      context.running.close()
      await detachHost()
    },
  }
}

function createForwardContext({ name, log, runtime, timeoutMs, availability }: HopOptions): ForwardContext {
  const running = new RunningCalls(runtime, timeoutMs)
  return { name, log, running, headerParams: new HeaderParamTools(), availability }
}
