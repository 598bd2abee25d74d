// Runs a program with a library. Each line of the input is an action of the user, and each line of the output is what
// the program shows.
import { createInterface } from 'node:readline'

const [file, entry] = process.argv.slice(2)
const show = (line) => console.log(JSON.stringify(line))

/** Asks the user to fill in a form, or to agree to open a page. */
let answered = () => {}
const ask = async ({ message, requestedSchema }) => {
  show({ question: message })
  const values = await new Promise((resolve) => (answered = resolve))
  const names = Object.keys(requestedSchema?.properties ?? {})
  const content = Object.fromEntries(names.map((name, index) => [name, values[index]]))
  return { action: 'accept', ...(requestedSchema && { content }) }
}

const { connect } = await import(file)
const client = await connect(JSON.parse(entry), { ask, report: (progress) => show({ progress }) })
let cancelled = new AbortController()

const actions = {
  call: ([name, args]) => client.call(name, args, cancelled.signal),
  prompt: ([name, args]) => client.prompt(name, args),
  read: ([uri]) => client.read(uri),
}

async function act([[kind, values]]) {
  if (kind === 'answer') return answered(values)
  if (kind === 'cancel') return cancelled.abort()
  cancelled = new AbortController()
  try {
    show({ result: JSON.stringify(await actions[kind](values)) })
  } catch (error) {
    show({ result: String(error) })
  }
}

show({ offers: Object.keys(client) })
for await (const line of createInterface({ input: process.stdin })) void act(Object.entries(JSON.parse(line)))
await client.close()
process.exit()
