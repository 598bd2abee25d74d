import { errorRecord } from '@x/core'
import { type Call, createCall, type Exchange, type Server } from '@x/exchange'
import { hopObserverKey } from '@x/exchange/internal'
import {
  findNotificationRow,
  metaKeys,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { CallerCredential } from './host-identity.ts'
import type { HopOptions } from './hop-options.ts'
import { RequestSender } from './send-request.ts'

/** The way to one upstream. */
export interface Hop {
  /** Sends a request of a host to the upstream. Resolves with an error that names the upstream if it gives no answer. */
  exchange(request: RpcRequest, call: Call, credential?: CallerCredential): Promise<RpcResponse>
  /** Forwards a notification of an extension. Those of the protocol belong to the host and the proxy. */
  notify(notification: RpcNotification, call: Call): void
  /** True if calls that wait for answers can only continue in this process. */
  readonly keepsCalls: boolean
  /** Asks the upstream to describe itself, in the name of the gateway. */
  probe(): Promise<unknown>
  /** Leaves the process of an unreachable server, so that the next call starts another one. */
  replaceProcess(): void
  close(): Promise<void>
}

/** Creates the hop to a server in this process, which receives the calls of hosts with their principal. */
export function serverHop(server: Server, options: HopOptions): Hop {
  const sender = new RequestSender(options)
  const detachHost = server.attachHost()
  return {
    exchange: (request, call) => sender.send(server.exchange, request, call),
    notify: (notification, call) => {
      try {
        if (isOfExtension(notification)) server.receive(notification, call)
      } catch (error) {
        options.log(errorRecord(error, { method: notification.method, name: options.name }))
      }
    },
    keepsCalls: false,
    probe: () => sender.send(server.exchange, createProbe(), createCall()),
    replaceProcess: () => {},
    close: async () => {
      sender.close()
      await detachHost()
    },
  }
}

/** Returns the exchange with an upstream as the telemetry of the host's request records it. */
export function observeHop(upstream: string, send: Exchange, { context }: Call): Exchange {
  return context.get(hopObserverKey)?.observe(upstream)(send) ?? send
}

/** The gateway as a caller, whose connections count for no host. */
export const probeCall = createCall({ principal: { issuer: 'urn:gateway', subject: 'probe' } })

export function createProbe(): RpcRequest {
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: { name: 'gateway', version: '1.0.0' },
    [metaKeys.clientCapabilities]: {},
  }
  return { jsonrpc: '2.0', id: 0, method: 'server/discover', params: { _meta } }
}

/** Returns true for a notification that is forwarded. */
export function isOfExtension({ method }: RpcNotification): boolean {
  return findNotificationRow(method) === undefined && !method.startsWith('notifications/')
}
