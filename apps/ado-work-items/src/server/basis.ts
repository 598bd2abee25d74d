import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, FieldValue, WorkItem } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'

/**
 * A work item as it was when a change began. It travels with the client while people are asked, so it has no more than
 * the change is judged by and told with.
 */
export type Basis = {
  readonly id: number
  readonly rev: number
  readonly type: string
  /** The fields that the change or a rule names; long texts are cut. */
  readonly fields: Fields
}

/** No rule compares with a longer text, and no answer shows one whole. */
const maxTextLength = 200

/** Reads what a change of these fields begins with. Rejects with `AzureDevOpsError`. */
export async function readBasis(
  { id, fields }: { readonly id: number; readonly fields: Fields },
  azureDevOps: AzureDevOps,
  signal: AbortSignal,
): Promise<{ readonly item: WorkItem; readonly basis: Basis }> {
  const item = await azureDevOps.getWorkItem(id, signal)
  const named = namedFields(await azureDevOps.workItemType(item.type), fields)
  return { item, basis: { id: item.id, rev: item.rev, type: item.type, fields: cutFields(item, named) } }
}

/** Lists the fields whose values differ from before. */
export function changedSince(basis: Basis, item: WorkItem, fields: Fields): readonly string[] {
  const now = cutFields(item, new Set(Object.keys(fields)))
  return Object.keys(fields).filter((name) => valueOf(now, name) !== valueOf(basis.fields, name))
}

function namedFields({ rules }: WorkItemType, fields: Fields): ReadonlySet<string> {
  const byRules = rules.flatMap(({ conditions, requires }) => [...conditions.map(({ field }) => field), ...requires])
  return new Set([...Object.keys(fields), ...byRules])
}

function cutFields(item: WorkItem, names: ReadonlySet<string>): Fields {
  const kept = Object.entries(item.fields).filter(([name]) => names.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, cut(value)]))
}

function cut(value: FieldValue): FieldValue {
  return typeof value === 'string' && value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value
}

function valueOf(fields: Fields, name: string): FieldValue {
  return Object.hasOwn(fields, name) ? (fields[name] ?? '') : ''
}
