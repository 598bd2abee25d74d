import type { WorkItem } from '../azure-devops/work-item.ts'
import type { Basis } from './basis.ts'
import type { Outcome } from './save-change.ts'

const [state, resolution] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason']
const maxShownLength = 80

/** Describes the outcome of a change in a text for users and models. */
export function describeOutcome(outcome: Outcome, basis: Basis): string {
  const { after, changed, links } = outcome
  const subject = `${after.type} #${after.id}`
  if (changed.length === 0 && links.length === 0) {
    return `${subject} already had these values; it stays at revision ${after.rev}.`
  }
  return `${resolvedAsDuplicate(outcome) ?? listed(outcome, basis)} It is now at revision ${after.rev}.`
}

/** Describes a bug that was resolved as a duplicate in a sentence of its own. */
function resolvedAsDuplicate({ after, changed, links }: Outcome): string | undefined {
  const [link] = links
  const isResolved = changed.includes(state) && changed.includes(resolution) && after.fields[state] === 'Resolved'
  const hasMore = changed.some((name) => name !== state && name !== resolution && name !== link?.field)
  if (link === undefined || links.length > 1 || !isResolved || hasMore) return undefined
  const { type, id } = link.other
  const how = `resolved as ${after.fields[resolution]} of ${type} #${id}`
  return `${after.type} #${after.id} ${how}. State set to Resolved and duplicate link created.`
}

function listed({ after, changed, links }: Outcome, basis: Basis): string {
  const parts = [
    ...changed.map((name) => `${name} is ${shown(after, name)} (was ${shown(basis, name)})`),
    ...links.map((link) => `linked as ${link.label} #${link.workItemId}`),
  ]
  return `${after.type} #${after.id} was changed: ${parts.join('; ')}.`
}

function shown({ fields }: Pick<WorkItem, 'fields'>, name: string): string {
  const value = Object.hasOwn(fields, name) ? String(fields[name]) : ''
  if (value === '') return 'empty'
  return value.length > maxShownLength ? `${value.slice(0, maxShownLength - 1)}…` : value
}
