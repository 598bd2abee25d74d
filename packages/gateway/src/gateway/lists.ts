import { isCancelled, isJsonObject, type JsonObject } from '@x/core'
import { createLoginTool, loginTool } from './login.ts'
import { askMember, type HostRequest, type Member, type MemberAnswer } from '../upstream/member.ts'
import { encodeName } from '../names/names.ts'
import { type InnerCursor, invalidCursorError } from '../names/state.ts'
import { rewriteSkill, rewriteUiMeta, rewriteUri } from '../names/rewrite.ts'

/** The number of items after which a page is not joined with that of the next upstream. */
const maxJoinedItems = 500

/** Rewrites an item of a list. Returns undefined for an item that the gateway does not offer. */
type RewriteItem = (item: JsonObject, member: Member) => JsonObject | undefined | Promise<JsonObject | undefined>

/** A list of which each upstream has a part. */
export interface MergedList {
  /** The member of the result with the items. */
  readonly items: string
  readonly rewriteItem: RewriteItem
  /** The items of an upstream at which the caller has to log in. */
  readonly createLoginItems?: ((upstream: string) => readonly JsonObject[]) | undefined
}

/** The methods whose results are merged. */
export const mergedLists: ReadonlyMap<string, MergedList> = new Map<string, MergedList>([
  [
    'tools/list',
    { items: 'tools', rewriteItem: rewriteTool, createLoginItems: (upstream) => [createLoginTool(upstream)] },
  ],
  ['prompts/list', { items: 'prompts', rewriteItem: rewritePrompt }],
  ['resources/list', { items: 'resources', rewriteItem: (item, { name }) => rewriteUri(item, name) }],
  [
    'resources/templates/list',
    { items: 'resourceTemplates', rewriteItem: (item, { name }) => rewriteUri(item, name, 'uriTemplate') },
  ],
  ['skills/list', { items: 'skills', rewriteItem: (item, { name }) => rewriteSkill(item, name) }],
])

/** The lifetime and the scope of a cached merged result: the strictest of its parts. */
export interface MergedCaching {
  ttlMs: number
  cacheScope: 'private' | 'public'
}

/** Returns the caching hints of a result without parts. */
export function startCaching(): MergedCaching {
  return { ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: 'public' }
}

/** Merges the caching hints of one response into those of the result. An older upstream has none. */
export function mergeCaching(caching: MergedCaching, member: Member, answer: MemberAnswer): void {
  const { ttlMs = 0, cacheScope } = 'result' in answer ? answer.result : {}
  const isAbsent = 'isAway' in answer && !answer.isAway
  if (isAbsent) return
  caching.ttlMs = Math.min(caching.ttlMs, typeof ttlMs === 'number' ? ttlMs : 0)
  if (cacheScope !== 'public' || member.credential !== undefined) caching.cacheScope = 'private'
}

/** Returns the hints as a result has them. A result without any part is not cached. */
export function finishCaching({ ttlMs, cacheScope }: MergedCaching): JsonObject {
  return ttlMs === Number.MAX_SAFE_INTEGER ? { ttlMs: 0, cacheScope: 'private' } : { ttlMs, cacheScope }
}

/**
 * Merges a list of all upstreams: the pages of one upstream after the other, with short lists joined. All upstreams are
 * asked at the same time, so that an upstream that hangs delays the result by one time limit only.
 */
export async function mergeList(list: MergedList, host: HostRequest): Promise<JsonObject> {
  const { request, call, parts } = host
  const pages = await askForPages(host)
  const items: JsonObject[] = []
  const caching = startCaching()
  let next: InnerCursor | undefined
  for (const [index, { member, answer: pending }] of pages.entries()) {
    const answer = await pending
    if (isCancelled(call)) throw call.signal.reason
    mergeCaching(caching, member, answer)
    items.push(...(await rewriteItems(answer, list, member)))
    next = findNextPage({ member, answer }, items.length >= maxJoinedItems ? pages[index + 1]?.member : undefined)
    if (next !== undefined) break
  }
  const nextCursor = next && (await parts.state.sealCursor(next, request.method, call))
  return { [list.items]: items, ...(nextCursor !== undefined && { nextCursor }), ...finishCaching(caching) }
}

interface Page<Answer> {
  readonly member: Member
  readonly answer: Answer
}

/** Requests one page of the upstream of the cursor, and of each upstream after it. */
async function askForPages(host: HostRequest): Promise<readonly Page<Promise<MemberAnswer>>[]> {
  const { request, call, parts } = host
  const { cursor: sealed, _meta } = request.params ?? {}
  const start = typeof sealed === 'string' ? await parts.state.openCursor(sealed, request.method, call) : undefined
  const members = Array.from(parts.members.values())
  const first = start === undefined ? 0 : members.findIndex(({ name }) => name === start.upstream)
  // The upstream of the cursor is no longer in the configuration.
  if (first < 0) throw invalidCursorError()
  return members.slice(first).map((member, index) => {
    const cursor = index === 0 && start?.cursor !== undefined ? { cursor: start.cursor } : {}
    const params = { ...cursor, ...(isJsonObject(_meta) && { _meta }) }
    return { member, answer: askMember(member, { ...host, request: { ...request, params } }) }
  })
}

/** Returns the next page of a list: of the same upstream, or the first page of the next upstream. */
function findNextPage({ member, answer }: Page<MemberAnswer>, following: Member | undefined): InnerCursor | undefined {
  const cursor = 'result' in answer ? answer.result['nextCursor'] : undefined
  if (typeof cursor === 'string') return { upstream: member.name, cursor }
  return following && { upstream: following.name, cursor: undefined }
}

async function rewriteItems(answer: MemberAnswer, list: MergedList, member: Member): Promise<readonly JsonObject[]> {
  const rewritten: JsonObject[] = []
  for (const item of itemsIn(answer, list, member)) {
    const offered = await list.rewriteItem(item, member)
    if (offered !== undefined) rewritten.push(offered)
  }
  return rewritten
}

function itemsIn(answer: MemberAnswer, list: MergedList, { name }: Member): readonly JsonObject[] {
  if ('login' in answer) return list.createLoginItems?.(name) ?? []
  const items = 'result' in answer ? answer.result[list.items] : undefined
  return Array.isArray(items) ? items.filter(isJsonObject) : []
}

async function rewriteTool(tool: JsonObject, member: Member): Promise<JsonObject | undefined> {
  const { name } = tool
  if (typeof name !== 'string') return undefined
  const offered = member.credential !== undefined && name === loginTool ? name : member.toolNames.offeredName(name)
  if (offered === undefined || (await member.pins?.check(tool)) === false) return undefined
  return { ...rewriteUiMeta(tool, member.name), name: await encodeName(member.name, offered) }
}

async function rewritePrompt(prompt: JsonObject, member: Member): Promise<JsonObject | undefined> {
  const { name } = prompt
  return typeof name === 'string' ? { ...prompt, name: await encodeName(member.name, name) } : undefined
}
