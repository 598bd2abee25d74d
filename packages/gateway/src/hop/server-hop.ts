import { errorRecord } from '@x/core'
import { createCall, type Server } from '@x/exchange'
import { findNotificationRow, metaKeys, protocolVersion, type RpcNotification, type RpcRequest } from '@x/schema'
import type { Hop, HopOptions } from './hop-options.ts'
import { RequestSender } from './send-request.ts'

/** Leads to a server in this process, which receives the calls of hosts with their principal. */
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
    isStarting: false,
    probe: () => sender.send(server.exchange, createProbe(), createCall()),
    replaceProcess: () => {},
    close: async () => {
      sender.close()
      await detachHost()
    },
  }
}

/** Calls as the gateway itself, so its connections count for no host. */
export const probeCall = createCall({ principal: { issuer: 'urn:gateway', subject: 'probe' } })

export function createProbe(): RpcRequest {
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: { name: 'gateway', version: '1.0.0' },
    [metaKeys.clientCapabilities]: {},
  }
  return { jsonrpc: '2.0', id: 0, method: 'server/discover', params: { _meta } }
}

/** True for a notification that is forwarded. */
export function isOfExtension({ method }: RpcNotification): boolean {
  return findNotificationRow(method) === undefined && !method.startsWith('notifications/')
}
