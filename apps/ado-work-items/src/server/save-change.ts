import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, WorkItem } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'
import { type Basis, changedSince } from './basis.ts'
import { hasLink, linksOf, type NewLink } from './link-fields.ts'
import { ToolFailure } from './tool-failure.ts'

/** A requested change, with the basis and the type that the rules are evaluated against. */
export interface WantedChange {
  readonly basis: Basis
  readonly type: WorkItemType
  readonly fields: Fields
  /** The revision that the caller requires. Default: the revision of the basis. */
  readonly rev?: number | undefined
}

/** The outcome of a change. */
export interface Outcome {
  readonly after: WorkItem
  /** The fields whose values changed. */
  readonly changed: readonly string[]
  /** The added links, each with the linked work item. */
  readonly links: readonly (NewLink & { readonly other: WorkItem })[]
}

/**
 * Writes a change that has every field that the rules require, at most once, even if it is called again. Azure DevOps
 * has no idempotency keys, so the current work item decides. If it already has the new values, because the response to
 * the first write was lost, the outcome is returned without a write. Otherwise the write requires the revision that was
 * read (`test /rev`).
 *
 * Rejects with `AzureDevOpsError`, and with {@link ToolFailure} if a rule rejects the change.
 */
export async function saveChange(
  change: WantedChange,
  azureDevOps: AzureDevOps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { basis, fields, rev = basis.rev } = change
  const current = await azureDevOps.getWorkItem(basis.id, signal)
  const links = await findOthers(linksOf(fields, azureDevOps), current, { azureDevOps, signal })
  const remaining = { fields: differing(fields, current), links: links.filter((link) => !hasLink(current, link)) }
  if (isEmpty(remaining)) {
    const changed = changedSince(basis, current, fields)
    return { after: current, changed, links: links.filter(({ field }) => changed.includes(field)) }
  }
  try {
    checkRevision(current, rev)
    const after = await azureDevOps.updateWorkItem(basis.id, { ...remaining, rev }, signal)
    return { after, changed: Object.keys(remaining.fields), links: remaining.links }
  } catch (error) {
    throw toSaveError(error, change)
  }
}

/**
 * Checks that the work item still has the required revision. A change whose values are all present passes: a caller
 * that lost the response to its own write must not get a conflict. Throws `AzureDevOpsError`.
 */
export function checkNotStale(
  item: WorkItem,
  { fields, rev = item.rev }: { readonly fields: Fields; readonly rev?: number | undefined },
  azureDevOps: AzureDevOps,
): void {
  const links = linksOf(fields, azureDevOps).filter((link) => !hasLink(item, link))
  if (isEmpty({ fields: differing(fields, item), links })) return
  try {
    checkRevision(item, rev)
  } catch (error) {
    throw withWorkItem(error, item)
  }
}

function checkRevision(item: WorkItem, rev: number): void {
  if (item.rev === rev) return
  const which = `it is at revision ${item.rev}, not ${rev}`
  throw new AzureDevOpsError('conflict', `Another user changed the work item in the meantime: ${which}.`)
}

function isEmpty({ fields, links }: { readonly fields: Fields; readonly links: readonly unknown[] }): boolean {
  return Object.keys(fields).length === 0 && links.length === 0
}

/**
 * Reads the linked work items before anything is written. A link to a missing work item then fails the whole change,
 * not half of it.
 */
function findOthers(
  links: readonly NewLink[],
  item: WorkItem,
  { azureDevOps, signal }: { readonly azureDevOps: AzureDevOps; readonly signal: AbortSignal },
): Promise<Outcome['links']> {
  const subject = `${item.type} #${item.id}`
  return Promise.all(
    links.map(async (link) => {
      if (link.workItemId === item.id) {
        const why = `it cannot be linked as ${link.label} to itself.`
        throw new ToolFailure(`${subject} was not changed: ${why}`, why)
      }
      try {
        return { ...link, other: await azureDevOps.getWorkItem(link.workItemId, signal) }
      } catch (error) {
        throw withWorkItem(error, item)
      }
    }),
  )
}

function differing(fields: Fields, item: WorkItem): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !has(item, name, String(value))))
}

function has(item: WorkItem, name: string, value: string): boolean {
  const people = item.people.get(name)
  if (people !== undefined) return people.some((way) => way.toLowerCase() === value.toLowerCase())
  return value === (Object.hasOwn(item.fields, name) ? String(item.fields[name]) : '')
}

/**
 * Converts an error of Azure DevOps to one that names the work item. If a rule rejected the change, the message also
 * lists the allowed values.
 */
function toSaveError(error: unknown, { basis, type }: WantedChange): unknown {
  if (!(error instanceof AzureDevOpsError) || error.code !== 'rule') return withWorkItem(error, basis)
  const reasons = error.violations.map(({ field, message }) => {
    const allowed = type.fields.get(field)?.allowedValues ?? []
    return `${field} was rejected (${message}${allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`})`
  })
  const why = reasons.join('; ') || error.message
  const message = `${basis.type} #${basis.id} was not changed: ${why}. Correct the values and call again.`
  return new ToolFailure(message, why)
}

function withWorkItem(error: unknown, { type, id }: Pick<WorkItem, 'type' | 'id'>): unknown {
  if (!(error instanceof AzureDevOpsError)) return error
  return new AzureDevOpsError(error.code, `${type} #${id} was not changed. ${error.message}`, { cause: error })
}
