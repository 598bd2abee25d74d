import { isCancelled, isJsonObject, type JsonObject } from '@x/core'
import type { Call } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import { isAway, type Upstream, type UpstreamAnswer } from '../upstream/upstream.ts'
import type { HostRequest } from './host-request.ts'
import { createRelatedRequest } from '../hop/host-identity.ts'
import { encodeName, mayHaveDigest } from '../names/names.ts'
import { loginNeededError } from '../hop/upstream-error.ts'

const maxPages = 100

type UpstreamList = { readonly upstream: Upstream; readonly items: 'tools' | 'prompts' }

/**
 * Finds the upstream's own name for one without the upstream's prefix. A shortened name is looked up in the upstream's
 * list.
 */
export async function findInnerName(
  { inner, name }: { readonly inner: string; readonly name: string },
  list: UpstreamList,
  host: HostRequest,
): Promise<string> {
  if (!mayHaveDigest(name)) return inner
  const { upstream, items } = list
  const known = upstream.toolNames.replaced.find(name)
  if (known !== undefined) return known
  const offeredName = (each: string): string | undefined =>
    items === 'tools' ? upstream.toolNames.offeredName(each) : each
  for await (const item of readItems(list, host)) {
    const offered = offeredName(String(item['name']))
    if (offered !== undefined && (await encodeName(upstream.name, offered)) === name) return offered
  }
  return inner
}

/** True if a tool's definition is the accepted one, or the upstream has no pins. */
export async function hasAcceptedDefinition(upstream: Upstream, tool: string, host: HostRequest): Promise<boolean> {
  const { pins } = upstream
  if (pins === undefined || pins.isFresh(tool)) return true
  const item = await findUpstreamTool(upstream, tool, host)
  return item !== undefined && pins.check(item)
}

/** Finds a tool by its name at the upstream. */
export async function findUpstreamTool(
  upstream: Upstream,
  name: string,
  host: HostRequest,
): Promise<JsonObject | undefined> {
  for await (const tool of readItems({ upstream, items: 'tools' }, host)) if (tool['name'] === name) return tool
  return undefined
}

async function* readItems(
  { upstream, items }: UpstreamList,
  { request, call }: HostRequest,
): AsyncGenerator<JsonObject, void> {
  let cursor: JsonObject = {}
  for (let count = 0; count < maxPages; count += 1) {
    const answer = await askPatiently(upstream, createRelatedRequest(request, `${items}/list`, cursor), call)
    const page = await requirePage(answer, upstream)
    const { [items]: found, nextCursor } = page
    for (const item of Array.isArray(found) ? found : []) if (isJsonObject(item)) yield item
    if (typeof nextCursor !== 'string') return
    cursor = { cursor: nextCursor }
  }
}

/** Each waits as long as the list of a host does. */
const maxStartTries = 4

/** A call waits longer for a process that starts. */
async function askPatiently(upstream: Upstream, request: RpcRequest, call: Call): Promise<UpstreamAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await upstream.ask(request, call)
    if (!isAway(answer) || tries === maxStartTries || !upstream.hop.isStarting || isCancelled(call)) return answer
  }
}

/**
 * A page of a list, empty at an upstream without such a list. Throws if an upstream gives none now: its item may exist,
 * and "unknown" would tell a model that it does not.
 */
async function requirePage(answer: UpstreamAnswer, upstream: Upstream): Promise<JsonObject> {
  if ('result' in answer) return answer.result
  if ('login' in answer) throw loginNeededError(upstream.name, answer.login)
  if (answer.isAway) throw await upstream.createMissingListError()
  return {}
}
