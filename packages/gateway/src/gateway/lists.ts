import { isCancelled, isJsonObject, type JsonObject } from '@x/core'
import { createLoginTool } from './login.ts'
import type { Upstream, UpstreamAnswer } from '../upstream/upstream.ts'
import type { HostRequest } from './host-request.ts'
import { createRelatedRequest } from '../hop/host-identity.ts'
import { encodeName, isToolName } from '../names/names.ts'
import { type UpstreamCursor, invalidCursorError } from '../names/state.ts'
import { rewriteSkill, rewriteUiMeta, rewriteUri } from '../names/rewrite.ts'

// limit: joined lists | count | entries of several upstreams in one page | the list has another page
const maxJoinedItems = 500

type RewriteItem = (item: JsonObject, upstream: Upstream) => JsonObject | undefined | Promise<JsonObject | undefined>

/** A list of which each upstream has a part. */
export interface MergedList {
  /** The member of the result that has the items. */
  readonly items: string
  readonly rewriteItem: RewriteItem
  /** Makes the gateway's own item for an upstream at which the caller must log in. */
  readonly createLoginItem?: ((upstream: string) => JsonObject) | undefined
  /** Called after an upstream's last page. */
  readonly onEnd?: ((upstream: Upstream) => void) | undefined
}

/** Methods whose results are merged. */
export const mergedLists: ReadonlyMap<string, MergedList> = new Map<string, MergedList>([
  [
    'tools/list',
    {
      items: 'tools',
      rewriteItem: rewriteTool,
      createLoginItem: createLoginTool,
      onEnd: (upstream) => upstream.reportUnmatchedRules(),
    },
  ],
  ['prompts/list', { items: 'prompts', rewriteItem: rewritePrompt }],
  ['resources/list', { items: 'resources', rewriteItem: (item, { name }) => rewriteUri(item, name) }],
  [
    'resources/templates/list',
    { items: 'resourceTemplates', rewriteItem: (item, { name }) => rewriteUri(item, name, 'uriTemplate') },
  ],
  ['skills/list', { items: 'skills', rewriteItem: (item, { name }) => rewriteSkill(item, name) }],
])

/** Lifetime and scope of a cached merged result: the strictest of its parts. An older upstream has none. */
export class MergedCaching {
  #ttlMs = Number.MAX_SAFE_INTEGER
  #cacheScope = 'public'

  add({ credential }: Upstream, answer: UpstreamAnswer): void {
    const { ttlMs = 0, cacheScope } = 'result' in answer ? answer.result : {}
    const isAbsent = 'isAway' in answer && !answer.isAway
    if (isAbsent) return
    this.#ttlMs = Math.min(this.#ttlMs, typeof ttlMs === 'number' ? ttlMs : 0)
    if (cacheScope !== 'public' || credential !== undefined) this.#cacheScope = 'private'
  }

  /** A result without any part is not cached. */
  toMembers(): JsonObject {
    if (this.#ttlMs === Number.MAX_SAFE_INTEGER) return { ttlMs: 0, cacheScope: 'private' }
    return { ttlMs: this.#ttlMs, cacheScope: this.#cacheScope }
  }
}

/**
 * Merges a list of all upstreams: the pages of one after the other, with short lists joined. All are asked at the same
 * time, so that one that hangs delays the result by one time limit only, and later results by less.
 */
export async function mergeList(list: MergedList, host: HostRequest): Promise<JsonObject> {
  const { request, call, parts } = host
  const pages = await askForPages(host)
  const items: JsonObject[] = []
  const caching = new MergedCaching()
  let next: UpstreamCursor | undefined
  for (const [index, { upstream, answer: pending }] of pages.entries()) {
    const answer = await pending
    if (isCancelled(call)) throw call.signal.reason
    caching.add(upstream, answer)
    items.push(...(await rewriteListedItems(answer, list, upstream)))
    const following = items.length >= maxJoinedItems ? pages[index + 1]?.upstream : undefined
    next = pageAfter(answer, upstream) ?? (following && { upstream: following.name, cursor: undefined })
    if (next !== undefined) break
  }
  const nextCursor = next && (await parts.state.sealCursor(next, request.method, call))
  return { [list.items]: items, ...(nextCursor !== undefined && { nextCursor }), ...caching.toMembers() }
}

async function askForPages({
  request,
  call,
  parts,
}: HostRequest): Promise<readonly { readonly upstream: Upstream; readonly answer: Promise<UpstreamAnswer> }[]> {
  const { cursor: sealed } = request.params ?? {}
  const start = typeof sealed === 'string' ? await parts.state.openCursor(sealed, request.method, call) : undefined
  const upstreams = Array.from(parts.upstreams.values())
  const first = start === undefined ? 0 : upstreams.findIndex(({ name }) => name === start.upstream)
  // The upstream of the cursor is no longer in the configuration.
  if (first < 0) throw invalidCursorError()
  return upstreams.slice(first).map((upstream, index) => {
    const cursor = index === 0 && start?.cursor !== undefined ? { cursor: start.cursor } : {}
    return { upstream, answer: upstream.askForList(createRelatedRequest(request, request.method, cursor), call) }
  })
}

function pageAfter(answer: UpstreamAnswer, { name }: Upstream): UpstreamCursor | undefined {
  const cursor = 'result' in answer ? answer.result['nextCursor'] : undefined
  return typeof cursor === 'string' ? { upstream: name, cursor } : undefined
}

async function rewriteListedItems(
  answer: UpstreamAnswer,
  { items, rewriteItem, createLoginItem, onEnd }: MergedList,
  upstream: Upstream,
): Promise<readonly JsonObject[]> {
  if ('login' in answer) return createLoginItem === undefined ? [] : [createLoginItem(upstream.name)]
  const found = 'result' in answer ? answer.result[items] : undefined
  const listed = Array.isArray(found) ? found.filter(isJsonObject) : []
  // Together, so that a store of pins can read and write once for a list.
  const offered = await Promise.all(listed.map((item) => rewriteItem(item, upstream)))
  if ('result' in answer && typeof answer.result['nextCursor'] !== 'string') onEnd?.(upstream)
  return offered.filter((item) => item !== undefined)
}

async function rewriteTool(tool: JsonObject, upstream: Upstream): Promise<JsonObject | undefined> {
  const { name } = tool
  if (typeof name !== 'string') return undefined
  const offered = upstream.toolNames.offeredName(name)
  if (offered === undefined || (await upstream.pins?.lists(tool)) === false) return undefined
  return { ...rewriteUiMeta(tool, upstream.name), name: await offerName(offered, upstream) }
}

async function rewritePrompt(prompt: JsonObject, upstream: Upstream): Promise<JsonObject | undefined> {
  const { name } = prompt
  // Lookalike names have other characters than a tool's name, too.
  if (typeof name !== 'string' || !isToolName(name)) return undefined
  return { ...prompt, name: await offerName(name, upstream) }
}

async function offerName(inner: string, { name: upstream, toolNames }: Upstream): Promise<string> {
  const name = await encodeName(upstream, inner)
  toolNames.replaced.add(name, inner)
  return name
}
