import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { startBalancer } from './balancer.mjs'

const instances = [await startInstance('A'), await startInstance('B')]
let last
const balancer = await startBalancer(instances, (instance) => {
  console.log(`Instance ${instance.name} answers`)
  last = instance
})
const connection = connectHttp(`http://127.0.0.1:${balancer.address().port}/mcp`)

// The answer of each question, by the key that the handler gives to `ctx.elicit`.
const answers = { guests: { guests: 8 } }
let isKilled = false

const client = createClient(connection, {
  name: 'fleet',
  version: '1.0.0',
  async elicit({ message }, { key }) {
    console.log(`The user reads: ${message}`)
    if (!isKilled) await kill(last)
    return { action: 'accept', content: answers[key] }
  },
})
try {
  const { content } = await client.callTool('order', { cake: 'apple' })
  console.log(content[0].text)
} finally {
  await connection.close()
  balancer.close()
  for (const { process: instance } of instances) instance.kill('SIGTERM')
}

async function startInstance(name) {
  const env = { ...process.env, PORT: '0' }
  const instance = spawn(process.execPath, ['server.mjs'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(instance.stdout, 'data')
  return { name, process: instance, port: new URL(String(line).replace('Serving ', '')).port }
}

async function kill({ name, process: instance }) {
  isKilled = true
  console.log(`Instance ${name} is killed`)
  instance.kill('SIGKILL')
  await once(instance, 'exit')
}
