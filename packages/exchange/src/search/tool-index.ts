import { isJsonObject, type JsonObject } from '@x/core'
import MiniSearch from 'minisearch'
import { readTerms, type Terms } from './words.ts'

/** Long descriptions repeat what all tools of an API say. */
const weights: Readonly<Record<string, number>> = { name: 3, title: 3, summary: 2, description: 0.6, parameters: 0.3 }

/** What a word of the same group counts, where the word itself counts 1. */
const synonymWeight = 0.9

/** Share of the score that does not depend on the words in the name. */
const namelessShare = 0.7

// limit: search of tools | count | characters of a description that are searched | the rest is not found
const maxIndexedCharacters = 500

/** More only if one list has more. Others are forgotten together, and read again. */
// limit: search of tools | count | definitions in the index | the index is built again
const maxDefinitions = 20_000

/** Read in one turn of the event loop: about 5 ms. */
const chunkSize = 50

type IndexedTool = Readonly<Record<string, string | number>>

/**
 * The words of all tools that callers have listed. A search ranks the tools of its caller only by one another, so that
 * tools that other callers have leave no trace, not even in the order.
 */
export class ToolIndex {
  #indexed = createIndexed()

  /** Tools that share words with the query, the best first. */
  async search(query: string, tools: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const { index, toolsById } = await this.#read(tools)
    const words = readTerms(query)
    const found = index.search([...new Set(words.flat())].join(' '), {
      tokenize: (text) => text.split(' '),
      filter: ({ id }) => toolsById.has(id),
    })
    const rank = createRank(words, found, tools.length)
    const name = query.trim()
    return found
      .map(({ id, match }) => {
        const tool = toolsById.get(id) ?? {}
        return { tool, score: tool['name'] === name ? Infinity : rank(match) }
      })
      .toSorted((one, other) => other.score - one.score)
      .map(({ tool }) => tool)
  }

  async #read(tools: readonly JsonObject[]) {
    if (this.#indexed.idsByText.size > Math.max(maxDefinitions, 2 * tools.length)) this.#indexed = createIndexed()
    const indexed = this.#indexed
    const added: IndexedTool[] = []
    const readId = (tool: JsonObject): number => {
      const fields = fieldsOf(tool)
      const text = JSON.stringify(fields)
      // By its text, because a gateway makes new objects for each list.
      const id = indexed.idsByText.get(text) ?? indexed.idsByText.size
      if (id === indexed.idsByText.size) added.push({ id, ...fields })
      indexed.idsByText.set(text, id)
      indexed.ids.set(tool, id)
      return id
    }
    const toolsById = new Map<number, JsonObject>()
    for (const tool of tools) toolsById.set(indexed.ids.get(tool) ?? readId(tool), tool)
    if (added.length > 0) indexed.ready = indexed.ready.then(() => indexed.index.addAllAsync(added, { chunkSize }))
    await indexed.ready
    return { index: indexed.index, toolsById }
  }
}

function createIndexed() {
  // Long texts have the words of many groups.
  const hasGroups = (field?: string): boolean => field !== 'description' && field !== 'parameters'
  const index = new MiniSearch<IndexedTool>({
    fields: Object.keys(weights),
    tokenize: (text, field) => readTerms(text).flatMap((terms) => (hasGroups(field) ? terms : terms.slice(0, 1))),
    processTerm: (term) => term,
  })
  /** Resolves when all definitions so far can be found. */
  const ready: Promise<void> = Promise.resolve()
  return { index, ready, ids: new WeakMap<JsonObject, number>(), idsByText: new Map<string, number>() }
}

function fieldsOf({ name, title, description, inputSchema }: JsonObject): Readonly<Record<string, string>> {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxIndexedCharacters) : '')
  const [summary = '', ...rest] = textOf(description).split(/\n|\. /)
  const properties = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined
  const parameters = isJsonObject(properties) ? textOf(Object.keys(properties).join(' ')) : ''
  return { name: textOf(name), title: textOf(title), summary, description: rest.join(' '), parameters }
}

type Match = Readonly<Record<string, readonly string[]>>

/**
 * Scores a match. Each word of the query counts by how rare it is among the tools of the caller, in its best field. The
 * sum is multiplied by the squared share of the words that matched, and by that in the name.
 */
function createRank(
  words: readonly Terms[],
  found: readonly { readonly match: Match }[],
  toolCount: number,
): (match: Match) => number {
  // Bounded by the terms of one search.
  const counts = new Map<string, number>()
  for (const { match } of found) for (const term of Object.keys(match)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const rarityOf = (term: string): number => {
    const count = counts.get(term)
    return count === undefined ? 0 : Math.log(1 + (toolCount - count + 0.5) / (count + 0.5))
  }
  // A word is its own term, and those of its groups.
  const parts = words.map((terms) => {
    const rarities = terms.map(rarityOf)
    return { terms, rarities, rarity: Math.max(...rarities) }
  })
  const total = parts.reduce((sum, { rarity }) => sum + rarity, 0)
  return (match) => {
    let [score, matched, named] = [0, 0, 0]
    for (const { terms, rarities, rarity } of parts) {
      const best = { score: 0, share: 0, named: 0 }
      for (const [at, term] of terms.entries()) {
        const fields = match[term]
        if (fields === undefined) continue
        const share = at === 0 ? 1 : synonymWeight
        const weight = Math.max(...fields.map((field) => weights[field] ?? 0))
        best.score = Math.max(best.score, share * weight * (rarities[at] ?? 0))
        best.share = Math.max(best.share, share)
        if (fields.includes('name')) best.named = Math.max(best.named, share)
      }
      score += best.score
      matched += best.share * rarity
      named += best.named * rarity
    }
    return total === 0 ? 0 : score * (matched / total) ** 2 * (namelessShare + named / total)
  }
}
