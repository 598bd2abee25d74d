import { applyPatch, fieldsOf } from './apply-patch.ts'
import { parseQuery, QueryError } from './query.ts'
import type { Seed, SeedField, SeedType, SeedWorkItem } from './seed.ts'
import { noSuchWorkItem, ServiceError } from './service-error.ts'

/** The emulated project: its process, its work items, and the operations on them. */
export interface Store {
  readonly process: Seed['process']
  get(id: number): SeedWorkItem
  find(id: number): SeedWorkItem | undefined
  query(text: string): readonly SeedWorkItem[]
  patch(id: number, operations: unknown): SeedWorkItem
  /** Restores the work items of the seed. */
  reset(): void
  /** Returns a type by its name or its reference name. */
  type(name: string): SeedType
  fields(type: SeedType): readonly SeedField[]
}

/** The dependencies of the store. */
export interface StoreOptions {
  readonly seed: Seed
  readonly project: string
  readonly now?: () => Date
}

const opposite = new Map([
  ['System.LinkTypes.Duplicate-Forward', 'System.LinkTypes.Duplicate-Reverse'],
  ['System.LinkTypes.Duplicate-Reverse', 'System.LinkTypes.Duplicate-Forward'],
  ['System.LinkTypes.Hierarchy-Forward', 'System.LinkTypes.Hierarchy-Reverse'],
  ['System.LinkTypes.Hierarchy-Reverse', 'System.LinkTypes.Hierarchy-Forward'],
])

/** Creates a store in memory with the work items of the seed. */
export function createStore({ seed, project, now = () => new Date() }: StoreOptions): Store {
  const { process } = seed
  const items = new Map<number, SeedWorkItem>()
  const reset = (): void => {
    items.clear()
    for (const item of structuredClone(seed.workItems)) items.set(item.id, withSystemFields(item, project))
  }
  reset()
  const get = (id: number): SeedWorkItem => {
    const item = items.get(id)
    if (item === undefined) throw noSuchWorkItem(id)
    return item
  }
  return {
    process,
    get,
    find: (id) => items.get(id),
    query: (text) => runQuery([...items.values()], text, { project, me: process.people[0]?.displayName ?? '' }),
    patch: (id, operations) => {
      const before = get(id)
      const after = applyPatch({ item: before, process, exists: (other) => items.has(other) }, operations)
      const saved = withSystemFields({ ...after, rev: before.rev + 1 }, project)
      saved.fields['System.ChangedDate'] = now().toISOString()
      items.set(id, saved)
      linkBack(before, saved, items)
      return saved
    },
    reset,
    type: (name) => {
      const type = process.types.find((candidate) => candidate.name === name || candidate.referenceName === name)
      if (type === undefined) {
        throw new ServiceError(404, 'WorkItemTypeNotFoundException', {
          message: `VS402323: Work item type ${name} does not exist in project ${project} or you do not have permission to access it.`,
        })
      }
      return type
    },
    fields: (type) => fieldsOf(process, type),
  }
}

function withSystemFields(item: SeedWorkItem, project: string): SeedWorkItem {
  const own = { 'System.Id': item.id, 'System.Rev': item.rev, 'System.TeamProject': project }
  return { ...item, fields: { ...item.fields, ...own } }
}

/** Adds the reverse link to the linked work item. Its revision does not change, as in the service. */
function linkBack(before: SeedWorkItem, after: SeedWorkItem, items: ReadonlyMap<number, SeedWorkItem>): void {
  for (const { rel, target } of after.relations.slice(before.relations.length)) {
    const back = opposite.get(rel)
    if (back !== undefined) items.get(target)?.relations.push({ rel: back, target: after.id })
  }
}

function runQuery(
  items: readonly SeedWorkItem[],
  text: string,
  macros: { project: string; me: string },
): SeedWorkItem[] {
  try {
    const query = parseQuery(text, macros)
    return items.filter((item) => query.matches(item.fields)).sort((a, b) => query.compare(a.fields, b.fields))
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    throw new ServiceError(400, 'WorkItemTrackingQueryException', {
      message: `TF51006: The query statement is wrong: ${error.message}.`,
    })
  }
}
