import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, FieldValue, WorkItem } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'

/**
 * The state of a work item when a change begins. It is part of the sealed state that travels with the client, so it
 * contains only the values that the rules and the answer use.
 */
export type Basis = {
  readonly id: number
  readonly rev: number
  readonly type: string
  /** The values of the fields that the change or a rule names. Long texts are truncated. */
  readonly fields: Fields
}

/**
 * The maximum length of a text in a basis, in characters. No rule compares a longer text, and no answer shows one in
 * full.
 */
const maxTextLength = 200

/** Reads the work item and makes the basis for a change of these fields. Rejects with `AzureDevOpsError`. */
export async function readBasis(
  { id, fields }: { readonly id: number; readonly fields: Fields },
  azureDevOps: AzureDevOps,
  signal: AbortSignal,
): Promise<{ readonly item: WorkItem; readonly basis: Basis }> {
  const item = await azureDevOps.getWorkItem(id, signal)
  const named = namedFields(await azureDevOps.workItemType(item.type), fields)
  return { item, basis: { id: item.id, rev: item.rev, type: item.type, fields: cutFields(item, named) } }
}

/** Lists the names in `fields` whose values differ between the basis and the work item. */
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
