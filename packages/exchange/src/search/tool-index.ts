import { isJsonObject, type JsonObject } from '@x/core'
import MiniSearch from 'minisearch'
import { readTerms, type Terms } from './words.ts'

/** The weights of the fields of a tool. Long descriptions repeat what all tools of an API say. */
const weights: Readonly<Record<string, number>> = { name: 3, title: 3, summary: 2, description: 0.6, parameters: 0.3 }

/** What a word of the same group counts, where the word itself counts 1. */
const synonymWeight = 0.9

/** The part of the score that does not depend on the words in the name. */
const namelessShare = 0.7

/** Characters of a description that are searched. */
// limit: search of tools | count | characters of a description that are searched | the rest is not found
const maxIndexedCharacters = 500

/** The number of definitions in the index, unless one list has more. Others are forgotten together, and read again. */
// limit: search of tools | count | definitions in the index | the index is built again
const maxDefinitions = 20_000

/** Definitions that are read in one turn of the event loop: about 5 ms. */
const chunkSize = 50

interface Indexed {
  readonly index: MiniSearch<IndexedTool>
  readonly ids: WeakMap<JsonObject, number>
  readonly idsByText: Map<string, number>
  /** Resolves when all definitions so far can be found. */
  ready: Promise<unknown>
}

interface IndexedTool {
  readonly id: number
  readonly [field: string]: string | number
}

/**
 * The words of all tools that callers have listed. A search ranks the tools of its caller only by one another, so that
 * tools that other callers have leave no trace, not even in the order.
 */
export class ToolIndex {
  #indexed = createIndexed()

  /** Returns the tools that share words with a query, the best first. */
  async search(query: string, tools: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const { index, toolsById } = await this.#read(tools)
    const words = readTerms(query)
    const found = index.search([...new Set(words.flat())].join(' '), {
      tokenize: (text) => text.split(' '),
      filter: ({ id }) => toolsById.has(id),
    })
    const rank = createRank(words, found, tools.length)
    return found
      .map(({ id, match }) => ({ tool: toolsById.get(id) ?? {}, score: rank(match) }))
      .toSorted((one, other) => isNamed(other.tool, query) - isNamed(one.tool, query) || other.score - one.score)
      .map(({ tool }) => tool)
  }

  /** Reads the tools that are new. Returns all of them by their ids in the index. */
  async #read(tools: readonly JsonObject[]) {
    if (this.#indexed.idsByText.size > Math.max(maxDefinitions, 2 * tools.length)) this.#indexed = createIndexed()
    const indexed = this.#indexed
    const { index, ids, idsByText } = indexed
    const toolsById = new Map<number, JsonObject>()
    const added: IndexedTool[] = []
    for (const tool of tools) {
      const id = ids.get(tool) ?? readId(tool, idsByText, added)
      ids.set(tool, id)
      toolsById.set(id, tool)
    }
    if (added.length > 0) {
      const previous = indexed.ready
      indexed.ready = previous.then(() => index.addAllAsync(added, { chunkSize }))
    }
    await indexed.ready
    return { index, toolsById }
  }
}

/** Long texts have the words of many groups. */
function hasSynonyms(field: string | undefined): boolean {
  return field !== 'description' && field !== 'parameters'
}

function createIndexed(): Indexed {
  const index = new MiniSearch<IndexedTool>({
    fields: Object.keys(weights),
    tokenize: (text, field) => readTerms(text).flatMap((terms) => (hasSynonyms(field) ? terms : terms.slice(0, 1))),
    processTerm: (term) => term,
  })
  return { index, ids: new WeakMap(), idsByText: new Map(), ready: Promise.resolve() }
}

/** Returns the id of a tool with the same words, or adds the tool. A gateway makes other objects for each list. */
function readId(tool: JsonObject, idsByText: Map<string, number>, added: IndexedTool[]): number {
  const fields = fieldsOf(tool)
  const text = JSON.stringify(fields)
  const known = idsByText.get(text)
  if (known !== undefined) return known
  const id = idsByText.size
  idsByText.set(text, id)
  added.push({ id, ...fields })
  return id
}

function fieldsOf({ name, title, description, inputSchema }: JsonObject): Readonly<Record<string, string>> {
  const [summary = '', ...rest] = textOf(description).split(/\n|\. /)
  const properties = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined
  return {
    name: textOf(name),
    title: textOf(title),
    summary,
    description: rest.join(' '),
    parameters: isJsonObject(properties) ? textOf(Object.keys(properties).join(' ')) : '',
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxIndexedCharacters) : ''
}

function isNamed({ name }: JsonObject, query: string): number {
  return name === query.trim() ? 1 : 0
}

type Match = Readonly<Record<string, readonly string[]>>

/**
 * Returns the function that scores a match. Each word of the query counts by how rare it is among the tools of the
 * caller, in its best field. The sum is multiplied by the squared share of the words that matched, and by that in the name.
 */
function createRank(
  words: readonly Terms[],
  found: readonly { readonly match: Match }[],
  toolCount: number,
): (match: Match) => number {
  const counts = new Map<string, number>()
  for (const { match } of found) for (const term of Object.keys(match)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const rarityOf = (term: string): number => {
    const count = counts.get(term)
    return count === undefined ? 0 : Math.log(1 + (toolCount - count + 0.5) / (count + 0.5))
  }
  const parts = words.map((terms) => {
    const rarities = terms.map(rarityOf)
    return {
      rarity: Math.max(...rarities),
      terms: terms.map((term, index) => ({ term, rarity: rarities[index] ?? 0 })),
    }
  })
  const total = parts.reduce((sum, { rarity }) => sum + rarity, 0)
  return (match) => {
    let score = 0
    let matched = 0
    let named = 0
    for (const { rarity, terms } of parts) {
      const best = findBest(terms, match)
      score += best.score
      matched += best.matched * rarity
      named += best.named * rarity
    }
    return total === 0 ? 0 : score * (matched / total) ** 2 * (namelessShare + named / total)
  }
}

/** Returns what one word of a query has in a tool: of its own term and its groups, the best of each. */
function findBest(terms: readonly { readonly term: string; readonly rarity: number }[], match: Match) {
  const best = { score: 0, matched: 0, named: 0 }
  for (const [index, { term, rarity }] of terms.entries()) {
    const fields = match[term]
    if (fields === undefined) continue
    const share = index === 0 ? 1 : synonymWeight
    const weight = Math.max(...fields.map((field) => weights[field] ?? 0))
    best.score = Math.max(best.score, share * weight * rarity)
    best.matched = Math.max(best.matched, share)
    if (fields.includes('name')) best.named = Math.max(best.named, share)
  }
  return best
}
