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

const client = createClient(connection, {
  name: 'fleet',
  version: '1.0.0',
  async elicit({ message }) {
    console.log(`The user reads: ${message}`)
    console.log(`Instance ${last.name} is killed`)
    last.process.kill('SIGKILL')
    await once(last.process, 'exit')
    return { action: 'accept', content: { guests: 8 } }
  },
})
const { content } = await client.callTool('order', { cake: 'apple' })
console.log(content[0].text)

await connection.close()
balancer.close()
for (const { process: instance } of instances) instance.kill('SIGTERM')

async function startInstance(name) {
  const env = { ...process.env, PORT: '0' }
  const instance = spawn(process.execPath, ['server.mjs'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(instance.stdout, 'data')
  return { name, process: instance, port: new URL(String(line).replace('Serving ', '')).port }
}
