import { pageUriOf, showApp } from '@x/apps/host'
import { readForm } from '@x/client/forms'

const host = { name: 'my-web-host', version: '1.0.0' }
const sandbox = `http://127.0.0.1:${location.port}/`

/** What `showApp` needs of a client. A tool that an App calls may ask the user, too. */
const client = {
  listTools: () => send('listTools'),
  readResource: (uri) => send('readResource', uri),
  callTool: async (name, args) => finish(await send('callTool', name, args), document.querySelector('#calls')),
}

const form = document.querySelector('#call')
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const params = { name: form.tool.value, arguments: JSON.parse(form.args.value) }
  void show(params, send('callTool', params.name, params.arguments))
})
// What was open when the page was left, or the host ended.
for (const round of await send('listPending')) void show(round.params, round)
for (const { name } of await client.listTools()) form.tool.append(new Option(name))

/** Shows a call: its questions, its result, and the page of its tool. */
async function show({ name, arguments: args }, round) {
  const item = create('li', name)
  document.querySelector('#calls').append(item)
  try {
    const result = await finish(await round, item)
    const tool = (await client.listTools()).find((each) => each.name === name)
    for (const { text = '' } of result.content) item.append(create('p', text))
    if (tool === undefined || pageUriOf(tool) === undefined) return
    const frame = create('iframe')
    await showApp(frame, { client, host, tool, arguments: args, result, sandbox })
    item.append(frame)
  } catch (error) {
    item.append(create('p', error.message))
  }
}

/** Lets the user answer until the call is complete. */
async function finish(round, parent) {
  while (round.status === 'input_required') {
    const answers = {}
    for (const [key, { params }] of Object.entries(round.requests))
      answers[key] = await ask(params, round.params.name, parent)
    round = await send('resume', round.id, answers)
  }
  return round.result
}

/** Shows the form of a question and the tool that asks it, and resolves with the answer. */
function ask({ message, requestedSchema }, tool, parent) {
  const { fields, check } = readForm(requestedSchema)
  const question = create('form', `${tool} asks: ${message} `)
  const inputs = fields.map((field) =>
    question.appendChild(create('label', `${field.label} `)).appendChild(createInput(field)),
  )
  question.append(create('button', 'Answer'), create('button', 'Decline'), create('output'))
  parent.append(question)
  return new Promise((resolve) => {
    question.addEventListener('submit', (event) => {
      event.preventDefault()
      const isDeclined = event.submitter?.textContent === 'Decline'
      const values = fields.map((field, index) => [field.name, read(field, inputs[index])])
      const { content, issues = new Map() } = check(Object.fromEntries(values))
      question.querySelector('output').textContent = [...issues.values()].join(' ')
      if (!isDeclined && content === undefined) return
      question.remove()
      resolve(isDeclined ? { action: 'decline' } : { action: 'accept', content })
    })
  })
}

function createInput({ type, choices = [] }) {
  const input = create(type.startsWith('choice') ? 'select' : 'input')
  if (type === 'boolean') input.type = 'checkbox'
  input.multiple = type === 'choices'
  input.append(...choices.map(({ label, value }) => new Option(label, value)))
  return input
}

function read(field, input) {
  if (field.type === 'boolean') return input.checked
  if (field.type === 'choices') return Array.from(input.selectedOptions, ({ value }) => value)
  return field.type === 'choice' ? input.value : field.parse(input.value)
}

/** Calls a function of the host's program. */
async function send(name, ...parameters) {
  const response = await fetch(name, { method: 'POST', body: JSON.stringify(parameters) })
  const value = await response.json()
  if (!response.ok) throw new Error(value.message)
  return value
}

function create(name, text = '') {
  return Object.assign(document.createElement(name), { textContent: text })
}
