import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { isJsonObject, type JsonObject, type Tool } from '@x/schema'
import { type Form, openForm } from '../forms/form.ts'
import { draftOf, toolFields } from '../forms/tool-fields.ts'
import type { Api } from './api.ts'
import { createDevState, type DevState } from './dev-state.ts'

/** A tool with its form. */
export interface ToolForm {
  readonly tool: Tool
  readonly form: Form
}

/** What the page shows, and what it can do. */
export interface Session {
  readonly state: DevState
  readonly picked: ReadonlySignal<ToolForm | undefined>
  /** The call that is shown: the one that the user has picked, or the latest. */
  readonly shownCallId: ReadonlySignal<number | undefined>
  /** The refusal of the last command. */
  readonly problem: Signal<string | undefined>
  pickTool(name: string): void
  showCall(id: number): void
  call(tool: string, args: JsonObject): Promise<void>
  /** Shows a tool with these arguments in its form. */
  fill(tool: string, args: object): void
  sendToPanel(name: string, command: object): Promise<unknown>
  /** Sends another command. A refusal becomes the `problem`. */
  command(path: string, body?: object): Promise<void>
  /** Reads the events of the command until the page is left. Connects again when the command has ended. */
  connect(): Promise<void>
}

const reconnectMs = 1000

/** Creates the session of a page. */
export function createSession(api: Api): Session {
  const state = createDevState()
  const pickedName = signal<string | undefined>(undefined)
  const shownCallId = signal<number | undefined>(undefined)
  const problem = signal<string | undefined>(undefined)
  const picked = createPicked(state, pickedName)
  effect(() => {
    const latest = state.calls.value.find(({ source }) => source === 'page') ?? state.calls.value[0]
    if (shownCallId.peek() === undefined && latest !== undefined) shownCallId.value = latest.id
  })

  const command: Session['command'] = async (path, body) => {
    try {
      await api.post(path, body)
      problem.value = undefined
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    }
  }
  return {
    state,
    picked,
    shownCallId,
    problem,
    pickTool: (name) => void (pickedName.value = name),
    showCall: (id) => void (shownCallId.value = id),
    call: async (tool, args) => {
      await api.post('call', { tool, args }).then(
        (result) => {
          shownCallId.value = Number(Object(result).id)
          problem.value = undefined
        },
        (error: unknown) => void (problem.value = error instanceof Error ? error.message : String(error)),
      )
    },
    fill: (tool, args) => {
      pickedName.value = tool
      const form = picked.value?.tool.name === tool ? picked.value.form : undefined
      for (const field of form?.fields ?? [])
        if (Object.hasOwn(args, field.name)) form?.set(field.name, draftOf(Object(args)[field.name], field.kind))
    },
    sendToPanel: (name, body) => api.post(`panels/${name}`, body),
    command,
    connect: () => connect(api, state),
  }
}

/** A form keeps its input when the server is started again, unless the schema of its tool has changed. */
function createPicked(state: DevState, name: Signal<string | undefined>): ReadonlySignal<ToolForm | undefined> {
  const forms = new Map<string, ToolForm & { readonly schema: string }>()
  return computed(() => {
    const tools = state.tools.value ?? []
    const tool = tools.find((one) => one.name === name.value) ?? tools[0]
    if (tool === undefined) return undefined
    const schema = JSON.stringify(tool.inputSchema)
    const known = forms.get(tool.name)
    const form = known?.schema === schema ? known.form : openForm(fieldsOf(tool))
    forms.set(tool.name, { tool, form, schema })
    return { tool, form }
  })
}

function fieldsOf({ inputSchema }: Tool): ReturnType<typeof toolFields> {
  return isJsonObject(inputSchema) ? toolFields(inputSchema) : []
}

async function connect(api: Api, state: DevState): Promise<void> {
  for (;;) {
    let isFirst = true
    const end = await api
      .read((events) => {
        // The command sends everything that it has kept, so what an earlier connection has received is dropped.
        if (isFirst) state.clear()
        isFirst = false
        state.take(events)
        state.link.value = 'live'
      })
      .catch(() => 'ended' as const)
    if (end === 'refused') return void (state.link.value = 'refused')
    state.link.value = 'lost'
    await new Promise((resolve) => setTimeout(resolve, reconnectMs))
  }
}
