import { applyPatch } from './apply-patch.ts'
import { parseQuery } from './query.ts'
import { readSeed, type SeedProcess, type SeedWorkItem } from './seed.ts'
import { ServiceError } from './service-error.ts'

/** The emulated project: its process, its work items, and the operations on them. */
export interface Store {
  readonly process: SeedProcess
  get(id: number): SeedWorkItem
  find(id: number): SeedWorkItem | undefined
  query(text: string): readonly SeedWorkItem[]
  patch(id: number, operations: unknown): SeedWorkItem
  /** Restores the work items of the seed. */
  reset(): void
}

/** The dependencies of the store. */
export interface StoreOptions {
  readonly project: string
  readonly now?: () => Date
}

const [duplicateOf, duplicate] = ['System.LinkTypes.Duplicate-Reverse', 'System.LinkTypes.Duplicate-Forward']

/** Creates a store in memory with the work items of the seed. */
export function createStore({ project, now = () => new Date() }: StoreOptions): Store {
  const { process, workItems } = readSeed()
  const items = new Map<number, SeedWorkItem>()
  const reset = (): void => {
    items.clear()
    for (const item of structuredClone(workItems)) items.set(item.id, withSystemFields(item, project))
  }
  reset()
  const get = (id: number): SeedWorkItem => {
    const item = items.get(id)
    if (item !== undefined) return item
    const message = `TF401232: Work item ${id} does not exist, or you do not have permissions to read it.`
    throw new ServiceError(404, 'WorkItemUnauthorizedAccessException', message)
  }
  return {
    process,
    get,
    find: (id) => items.get(id),
    query: (text) => {
      const { matches, compare } = parseQuery(text, { project, me: process.people[0]?.displayName ?? '' })
      return [...items.values()].filter(({ fields }) => matches(fields)).sort((a, b) => compare(a.fields, b.fields))
    },
    patch: (id, operations) => {
      const before = get(id)
      const after = applyPatch(before, process, operations)
      const saved = withSystemFields({ ...after, rev: before.rev + 1 }, project)
      saved.fields['System.ChangedDate'] = now().toISOString()
      items.set(id, saved)
      // The original gets the reverse link. Its revision does not change, as in the service.
      for (const { rel, target } of after.relations.slice(before.relations.length))
        if (rel === duplicateOf) items.get(target)?.relations.push({ rel: duplicate, target: id })
      return saved
    },
    reset,
  }
}

function withSystemFields(item: SeedWorkItem, project: string): SeedWorkItem {
  const own = { 'System.Id': item.id, 'System.Rev': item.rev, 'System.TeamProject': project }
  return { ...item, fields: { ...item.fields, ...own } }
}
