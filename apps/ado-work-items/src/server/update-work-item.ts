import { type Context, InputDeclined, type Tool, tool, toolResult } from '@x/server'
import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { readBasis } from './basis.ts'
import { completeFields } from './complete-fields.ts'
import { describeOutcome } from './describe-outcome.ts'
import { icons } from './icon.ts'
import { checkNotStale, saveChange } from './save-change.ts'
import { reasonOf, toFailedResult } from './tool-failure.ts'
import { toOutput, toResourceLink, workItemId, workItemOutput } from './work-item-output.ts'

const referenceName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z]\w*(?:\.\w+)+$/)
const notAReferenceName = 'should be the reference name of a field, such as System.State'
const fieldValue = z.union([z.string().max(32_000), z.number(), z.boolean()])
const maxFields = 50

/** The input schema of new field values, shared by the tools that change work items. */
export const newValues = z
  .record(referenceName, fieldValue, {
    error: ({ code }) => (code === 'invalid_key' ? notAReferenceName : undefined),
  })
  .refine((fields) => Object.keys(fields).length <= maxFields, `should have at most ${maxFields} entries`)
  .describe('New values by reference name, such as {"System.State": "Resolved"}; an empty string clears a field')

const input = z.object({
  workItemId,
  fields: newValues,
  rev: z.number().int().min(1).optional().describe('Change it only if it is still at this revision'),
})
type Arguments = z.infer<typeof input>

const output = workItemOutput.extend({ changed: z.array(z.string()).describe('The fields that got a new value') })

/** The text and the structured content of the result. */
type Answer = { readonly text: string; readonly output: z.infer<typeof output> }

/**
 * Creates `update_work_item`: sets fields of one work item, and asks the user for further fields that rules require.
 */
export function updateWorkItem(azureDevOps: AzureDevOps): Tool {
  return tool('update_work_item', {
    title: 'Change a work item',
    description:
      'Change fields of a work item. Rules of the process can require more fields: the user is asked for them, or the answer names them, with the values that they accept.',
    icons,
    input,
    output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    async run(args, ctx) {
      try {
        const answer = change(args, azureDevOps, ctx).catch((error) =>
          answerDeclined(error, args, { azureDevOps, ctx }),
        )
        return toResult(await answer, azureDevOps)
      } catch (error) {
        return toolResult(toFailedResult(error))
      }
    },
  })
}

/**
 * Changes the work item. The function runs again from the start after each answer of the user, on any instance. A
 * completed step is not repeated: its result comes from the journal.
 */
async function change(
  { workItemId: id, fields, rev }: Arguments,
  azureDevOps: AzureDevOps,
  ctx: Context,
): Promise<Answer> {
  const basis = await ctx.step('read', async ({ signal }) => {
    const read = await readBasis({ id, fields }, azureDevOps, signal)
    // Checks the revision before the user is asked.
    checkNotStale(read.item, { fields, rev }, azureDevOps)
    return read.basis
  })
  const type = await azureDevOps.workItemType(basis.type)
  const completed = await completeFields({ basis, type, fields }, { ctx, azureDevOps })
  return ctx.step('save', async ({ signal }) => {
    const outcome = await saveChange({ basis, type, fields: completed, rev }, azureDevOps, signal)
    const changed = [...outcome.changed]
    return { text: describeOutcome(outcome, basis), output: { ...toOutput(outcome.after, azureDevOps), changed } }
  })
}

/** Makes the result for a user who declines or dismisses a question. That is not an error. */
async function answerDeclined(
  error: unknown,
  { workItemId: id }: Arguments,
  { azureDevOps, ctx }: { readonly azureDevOps: AzureDevOps; readonly ctx: Context },
): Promise<Answer> {
  if (!(error instanceof InputDeclined)) throw error
  const item = await azureDevOps.getWorkItem(id, ctx.signal)
  const text = `${item.type} #${item.id} was not changed: ${reasonOf(error)} It stays at revision ${item.rev}. Ask them before you try again.`
  return { text, output: { ...toOutput(item, azureDevOps), changed: [] } }
}

function toResult({ text, output: structuredContent }: Answer, azureDevOps: AzureDevOps) {
  return toolResult({
    content: [{ type: 'text', text }, toResourceLink(structuredContent, azureDevOps)],
    structuredContent,
  })
}
