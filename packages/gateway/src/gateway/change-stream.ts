import { isJsonObject, type JsonObject, startBackgroundTimer } from '@x/core'
import { metaKeys, type RpcNotification } from '@x/schema'
import type { HostRequest } from './host-request.ts'
import { rewriteTask } from '../names/rewrite.ts'
import { encodeUri } from '../names/uris.ts'

const joinMs = 100
/** Notifications that are kept until the acknowledgement. Later ones are dropped as if they came before the stream. */
const maxHeld = 1000

/** The changes that a host wants to follow. */
export interface RequestedChanges {
  /** Flags of lists, such as `toolsListChanged`. */
  readonly lists: JsonObject
  /** URIs of resources at each upstream. */
  readonly uris: ReadonlyMap<string, readonly string[]>
  /** Ids of tasks as the host has them, by upstream and by their ids there. */
  readonly tasks: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const listMethods: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/** One host's stream, into which the streams of all upstreams flow. */
export class ChangeStream {
  readonly #requested: RequestedChanges
  readonly #host: HostRequest
  readonly #wantedLists: readonly string[]
  // Bounded by the kinds of lists.
  readonly #changedLists = new Set<string>()
  // Bounded by `maxFollowed` of one stream.
  readonly #refused = new Set<string>()
  #held: RpcNotification[] | undefined = []
  #timer: unknown

  constructor(requested: RequestedChanges, host: HostRequest) {
    this.#requested = requested
    this.#host = host
    const { lists } = requested
    this.#wantedLists = Object.entries(listMethods).flatMap(([flag, method]) => (lists[flag] === true ? [method] : []))
  }

  /** The filter for one upstream's stream. */
  filterOf(upstream: string): JsonObject {
    const { lists, uris, tasks } = this.#requested
    const taskIds = [...(tasks.get(upstream)?.keys() ?? [])]
    const resourceSubscriptions = uris.get(upstream) ?? []
    return {
      ...lists,
      ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
      ...(taskIds.length > 0 && { taskIds }),
    }
  }

  /** Notes what an upstream has not accepted of the filter. */
  acknowledge(upstream: string, { params }: RpcNotification): void {
    const accepted = params?.['notifications']
    this.refuse(upstream, isJsonObject(accepted) ? accepted : {})
  }

  /** Notes that an upstream follows nothing but the accepted part of the filter. */
  refuse(upstream: string, { resourceSubscriptions, taskIds }: JsonObject = {}): void {
    const { uris, tasks } = this.#requested
    for (const uri of uris.get(upstream) ?? [])
      if (!includes(resourceSubscriptions, uri)) this.#refused.add(encodeUri(upstream, uri))
    for (const [inner, outer] of tasks.get(upstream) ?? []) if (!includes(taskIds, inner)) this.#refused.add(outer)
  }

  receive(upstream: string, notification: RpcNotification): void {
    const { method, params = {} } = notification
    if (Object.values(listMethods).includes(method)) return this.#changeList(method)
    const { uri, taskId } = params
    if (method === 'notifications/resources/updated' && typeof uri === 'string')
      return this.#send(method, { ...params, uri: encodeUri(upstream, uri) })
    const outerTaskId = this.#requested.tasks.get(upstream)?.get(String(taskId))
    if (method === 'notifications/tasks' && outerTaskId !== undefined)
      this.#send(method, { ...rewriteTask(params, upstream), taskId: outerTaskId })
  }

  /** Notifies of changes of all lists, because an upstream has become unreachable, or reachable again. */
  changeLists(): void {
    for (const method of this.#wantedLists) this.#changeList(method)
  }

  /** Notifies of changes of all lists, and of one upstream's resources. */
  changeAll(upstream: string): void {
    this.changeLists()
    for (const uri of this.#requested.uris.get(upstream) ?? [])
      this.#send('notifications/resources/updated', { uri: encodeUri(upstream, uri) })
  }

  /**
   * Sends the acknowledgement, and then the notifications that arrived before it. A host ignores what is not in it, so
   * it includes what an unreachable upstream will follow when it has returned, and leaves out only what was refused.
   */
  open(): void {
    const { lists, uris: requestedUris, tasks } = this.#requested
    const isFollowed = (each: string): boolean => !this.#refused.has(each)
    const uris = [...requestedUris].flatMap(([name, all]) => all.map((uri) => encodeUri(name, uri))).filter(isFollowed)
    const taskIds = [...tasks.values()].flatMap((ids) => [...ids.values()]).filter(isFollowed)
    const notifications = {
      ...Object.fromEntries(Object.keys(listMethods).flatMap((flag) => (lists[flag] === true ? [[flag, true]] : []))),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
      ...(taskIds.length > 0 && { taskIds }),
    }
    const held = this.#held ?? []
    this.#held = undefined
    this.#send('notifications/subscriptions/acknowledged', { notifications })
    for (const notification of held) this.#host.call.notify(notification)
  }

  close(): void {
    this.#host.parts.runtime.clearTimeout(this.#timer)
    this.#held = undefined
  }

  #changeList(method: string): void {
    if (!this.#wantedLists.includes(method)) return
    this.#changedLists.add(method)
    this.#timer ??= startBackgroundTimer(this.#host.parts.runtime, () => this.#sendChangedLists(), joinMs)
  }

  #sendChangedLists(): void {
    this.#timer = undefined
    for (const method of this.#changedLists) this.#send(method, {})
    this.#changedLists.clear()
  }

  #send(method: string, params: JsonObject): void {
    const { request, call } = this.#host
    const { _meta } = params
    const meta = { ...(isJsonObject(_meta) && _meta), [metaKeys.subscriptionId]: request.id }
    const notification: RpcNotification = { jsonrpc: '2.0', method, params: { ...params, _meta: meta } }
    if (this.#held === undefined) call.notify(notification)
    else if (this.#held.length < maxHeld) this.#held.push(notification)
  }
}

function includes(values: unknown, value: string): boolean {
  return Array.isArray(values) && values.includes(value)
}
