import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '@x/client'
import { isJsonObject, type Tool } from '@x/schema'
import * as z from 'zod'
import { type Draft, isDraft } from '@x/cli/web/forms/field.ts'
import { type Form, openForm } from '@x/cli/web/forms/form.ts'
import { toolFields } from '@x/cli/web/forms/tool-fields.ts'
import { explainFailure } from './explain-failure.ts'
import type { WorkItems } from './work-items.ts'

/** A tool, and the form for its arguments. */
export interface ToolForm {
  readonly tool: Tool
  readonly form: Form
}

/** The tools of the server. */
export interface Tools {
  /** The tools. Undefined until the list has arrived. */
  readonly all: ReadonlySignal<readonly ToolForm[] | undefined>
  readonly picked: ReadonlySignal<ToolForm | undefined>
  /** The error of the last attempt to read the list. Undefined after a success. */
  readonly failure: ReadonlySignal<string | undefined>
  load(): Promise<void>
  pick(name: string): void
  /** Returns the selected tool and the input of its form as JSON. Returns undefined before the list has arrived. */
  serialize(): string | undefined
  /** Selects a tool and restores the input of its form. Ignores text that {@link serialize} did not return. */
  restore(text: string): void
}

const serializedForm = z.object({ tool: z.string(), drafts: z.array(z.tuple([z.string(), z.custom<Draft>(isDraft)])) })

/**
 * Creates the tools of the page. Each form keeps its input, except for the id of the work item, which follows the
 * selection.
 */
export function createTools(client: Client, { selected }: WorkItems): Tools {
  const all = signal<readonly ToolForm[] | undefined>(undefined)
  const name = signal('update_work_item')
  const failure = signal<string | undefined>(undefined)

  effect(() => {
    const item = selected.value
    if (item === undefined) return
    for (const { form } of all.value ?? []) {
      form.set('workItemId', String(item.id))
      form.set('rev', String(item.rev))
    }
  })

  const picked = computed(() => all.value?.find(({ tool }) => tool.name === name.value) ?? all.value?.[0])
  return {
    all,
    picked,
    failure,
    load: async () => {
      try {
        all.value = (await client.listTools()).map(toForm)
        failure.value = undefined
      } catch (error) {
        failure.value = explainFailure(error)
      }
    },
    pick: (wanted) => {
      name.value = wanted
    },
    serialize: () =>
      picked.value && JSON.stringify({ tool: picked.value.tool.name, drafts: [...picked.value.form.drafts.value] }),
    restore: (text) => {
      const data = parseForm(text)
      const found = all.value?.find(({ tool }) => tool.name === data?.tool)
      if (data === undefined || found === undefined) return
      name.value = data.tool
      for (const [field, value] of data.drafts) found.form.set(field, value)
    },
  }
}

function parseForm(text: string): z.infer<typeof serializedForm> | undefined {
  try {
    return serializedForm.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/**
 * Creates the form of a tool. A first row with the state is present, because the state is the field that changes most
 * often.
 */
function toForm(tool: Tool): ToolForm {
  const form = openForm(isJsonObject(tool.inputSchema) ? toolFields(tool.inputSchema, true) : [])
  for (const { name, kind } of form.fields) {
    if (kind.type === 'entries') form.set(name, [{ name: 'System.State', value: '' }])
  }
  return { tool, form }
}
