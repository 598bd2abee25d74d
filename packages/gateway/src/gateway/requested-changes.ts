import { isJsonObject, type JsonObject } from '@x/core'
import { errorCodes, isMcpError } from '@x/schema'
import type { RequestedChanges } from './change-stream.ts'
import type { HostRequest } from './host-request.ts'
import { decodeUri } from '../names/uris.ts'

// limit: followed items | count | URIs, or tasks, of one stream of changes | the others are not followed
const maxFollowed = 1000

/** Sorts what a host requests by upstream, and omits what no upstream has. */
export async function parseRequested(host: HostRequest): Promise<RequestedChanges> {
  const { notifications } = host.request.params ?? {}
  const { resourceSubscriptions, taskIds, ...lists } = isJsonObject(notifications) ? notifications : {}
  return {
    lists: lists as JsonObject,
    uris: groupUris(toFollowed(resourceSubscriptions), host),
    tasks: await groupTasks(toFollowed(taskIds), host),
  }
}

function groupUris(uris: readonly string[], { parts }: HostRequest): RequestedChanges['uris'] {
  const groups = new Map<string, string[]>()
  for (const uri of uris) {
    const { upstream = '', inner = '' } = decodeUri(uri) ?? {}
    if (parts.upstreams.has(upstream)) groups.set(upstream, [...(groups.get(upstream) ?? []), inner])
  }
  return groups
}

async function groupTasks(taskIds: readonly string[], host: HostRequest): Promise<RequestedChanges['tasks']> {
  const groups = new Map<string, Map<string, string>>()
  for (const taskId of taskIds) {
    const opened = await openTaskId(taskId, host)
    if (opened === undefined || !host.parts.upstreams.has(opened.upstream)) continue
    const group = groups.get(opened.upstream) ?? new Map<string, string>()
    groups.set(opened.upstream, group.set(opened.taskId, taskId))
  }
  return groups
}

async function openTaskId(
  taskId: string,
  { call, parts }: HostRequest,
): Promise<{ readonly upstream: string; readonly taskId: string } | undefined> {
  try {
    return await parts.state.openTaskId(taskId, call)
  } catch (error) {
    if (isMcpError(error) && error.code === errorCodes.invalidParams) return undefined
    throw error
  }
}

function toFollowed(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string').slice(0, maxFollowed) : []
}
