import { App } from '@modelcontextprotocol/ext-apps'
import type { WorkItemOutput } from '../../src/server/work-item-output.ts'

/** The states that the form suggests. The rules of the process decide which of them the work item may have. */
const suggestedStates = ['New', 'Active', 'Resolved', 'Closed']

const app = new App({ name: 'work-item', version: '0.1.0' })
let shownItem: WorkItemOutput | undefined

// #region page
// The host passes on the result of the tool call that it shows with this page.
app.ontoolresult = ({ structuredContent }) => {
  if (isWorkItem(structuredContent)) showItem(structuredContent)
}

element('save', HTMLButtonElement).addEventListener('click', () => void saveState())

/** Changes the state as the model would: the server checks the rules, and asks the user through the host. */
async function saveState(): Promise<void> {
  if (shownItem === undefined) return
  const { id, rev } = shownItem
  const fields = { 'System.State': stateInput().value }
  showOutcome('Saving …')
  try {
    const change = await app.callServerTool({ name: 'update_work_item', arguments: { workItemId: id, rev, fields } })
    const read = await app.callServerTool({ name: 'get_work_item', arguments: { workItemId: id } })
    if (isWorkItem(read.structuredContent)) showItem(read.structuredContent)
    showOutcome(change.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'))
  } catch (error) {
    showOutcome(`Not saved: ${error instanceof Error ? error.message : String(error)}`)
  }
}

await app.connect()
// #endregion

function showItem(item: WorkItemOutput): void {
  shownItem = item
  element('title', HTMLElement).textContent = `${item.type} #${item.id}: ${item.title}`
  stateInput().value = item.state
  const rows = Object.entries(item.fields).flatMap(([name, value]) => [row('dt', name), row('dd', toText(value))])
  element('fields', HTMLElement).replaceChildren(...rows)
}

/** Returns the text of a value. Long fields of Azure DevOps are HTML, of which only the text is shown. */
function toText(value: string | number | boolean): string {
  const isHtml = typeof value === 'string' && value.startsWith('<')
  return isHtml ? (new DOMParser().parseFromString(value, 'text/html').body.textContent ?? '') : String(value)
}

function showOutcome(text: string): void {
  element('outcome', HTMLElement).textContent = text
}

function row(tag: 'dt' | 'dd', text: string): HTMLElement {
  const cell = document.createElement(tag)
  cell.textContent = text
  return cell
}

function stateInput(): HTMLInputElement {
  return element('state', HTMLInputElement)
}

function element<T extends HTMLElement>(id: string, type: { new (): T }): T {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new Error(`The page has no element ${id}`)
}

/** Results of other tools have no structured content, or another one. */
function isWorkItem(value: unknown): value is WorkItemOutput {
  return typeof value === 'object' && value !== null && 'id' in value && 'rev' in value && 'fields' in value
}

element('states', HTMLElement).replaceChildren(
  ...suggestedStates.map((state) => Object.assign(document.createElement('option'), { value: state })),
)
