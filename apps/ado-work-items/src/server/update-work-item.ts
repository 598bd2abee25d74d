import { type Tool, tool, toolResult } from '@x/server'
import { z } from 'zod'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, WorkItem } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'
import { completeFields } from './complete-fields.ts'
import { icons } from './icon.ts'
import { type NewLink, newLinks } from './link-fields.ts'
import { ToolFailure, toFailedResult } from './tool-failure.ts'
import { toOutput, toResourceLink, workItemId, workItemOutput } from './work-item-output.ts'

const referenceName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z]\w*(?:\.\w+)+$/)
const notAReferenceName = 'should be the reference name of a field, such as System.State'
const fieldValue = z.union([z.string().max(32_000), z.number(), z.boolean()])
const mostFields = 50

const input = z.object({
  workItemId,
  fields: z
    .record(referenceName, fieldValue, {
      error: ({ code }) => (code === 'invalid_key' ? notAReferenceName : undefined),
    })
    .refine((fields) => Object.keys(fields).length <= mostFields, `should have at most ${mostFields} entries`)
    .describe('New values by reference name, such as {"System.State": "Resolved"}; an empty string clears a field'),
  rev: z.number().int().min(1).optional().describe('Change it only if it is still at this revision'),
})
type Arguments = z.infer<typeof input>

/** What came of a change. */
interface Outcome {
  readonly before: WorkItem
  readonly after: WorkItem
  readonly changed: Fields
  readonly links: readonly NewLink[]
}

/** `update_work_item`: new values for fields, checked against the rules of the process before they are sent. */
export function updateWorkItem(azureDevOps: AzureDevOps): Tool {
  return tool('update_work_item', {
    title: 'Change a work item',
    description:
      'Change fields of a work item. Rules of the process can require more fields: the answer names them, with the values that they accept.',
    icons,
    input,
    output: workItemOutput.extend({ changed: z.array(z.string()).describe('The fields that got a new value') }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    async run(args, ctx) {
      try {
        const outcome = await change(args, azureDevOps, ctx.signal)
        return toolResult({
          content: [{ type: 'text', text: describe(outcome) }, toResourceLink(outcome.after, azureDevOps)],
          structuredContent: { ...toOutput(outcome.after, azureDevOps), changed: Object.keys(outcome.changed) },
        })
      } catch (error) {
        return toolResult(toFailedResult(error))
      }
    },
  })
}

async function change(args: Arguments, azureDevOps: AzureDevOps, signal: AbortSignal): Promise<Outcome> {
  const before = await azureDevOps.getWorkItem(args.workItemId, signal)
  const type = await azureDevOps.workItemType(before.type)
  const fields = await completeFields({ item: before, type, fields: args.fields })
  const changed = differing(fields, before)
  const links = newLinks(before, fields, azureDevOps)
  // Asked for twice, done once: a caller that lost the first answer is not told of a conflict with itself.
  if (Object.keys(changed).length === 0 && links.length === 0) return { before, after: before, changed, links }
  try {
    const after = await azureDevOps.updateWorkItem(before.id, { fields: changed, links, rev: args.rev }, signal)
    return { before, after, changed, links }
  } catch (error) {
    throw refusal(error, before, type)
  }
}

function differing(fields: Fields, item: WorkItem): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !has(item, name, String(value))))
}

function has(item: WorkItem, name: string, value: string): boolean {
  const people = item.people.get(name)
  if (people !== undefined) return people.some((way) => way.toLowerCase() === value.toLowerCase())
  return value === (Object.hasOwn(item.fields, name) ? String(item.fields[name]) : '')
}

/** Adds to the service's own refusal which work item was meant and which values would be right. */
function refusal(error: unknown, item: WorkItem, type: WorkItemType): unknown {
  if (!(error instanceof AzureDevOpsError)) return error
  const subject = `${item.type} #${item.id} was not changed`
  if (error.code !== 'rule') return new AzureDevOpsError(error.code, `${subject}. ${error.message}`, { cause: error })
  const reasons = error.violations.map(({ field, message }) => {
    const allowed = type.fields.get(field)?.allowedValues ?? []
    return `${field} was refused (${message}${allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`})`
  })
  return new ToolFailure(`${subject}: ${reasons.join('; ') || error.message}. Correct the values and call again.`)
}

function describe({ before, after, changed, links }: Outcome): string {
  const subject = `${after.type} #${after.id}`
  const parts = [
    ...Object.keys(changed).map((name) => `${name} is ${shown(after, name)} (was ${shown(before, name)})`),
    ...links.map((link) => `linked as ${link.label} #${link.workItemId}`),
  ]
  if (parts.length === 0) return `${subject} already had these values; it stays at revision ${after.rev}.`
  return `${subject} was changed: ${parts.join('; ')}. It is now at revision ${after.rev}.`
}

function shown(item: WorkItem, name: string): string {
  const value = Object.hasOwn(item.fields, name) ? String(item.fields[name]) : ''
  if (value === '') return 'empty'
  return value.length > 80 ? `${value.slice(0, 79)}…` : value
}
