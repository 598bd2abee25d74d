import { createClient } from '@x/client'
import { createServer, resource } from '@x/server'

let degrees = 20
const weather = resource('weather://oslo', { name: 'Weather', read: () => `${degrees} degrees` })
const server = createServer({ name: 'weather', version: '1.0.0', resources: [weather] })
const client = createClient(server, { name: 'host', version: '1.0.0' })

for await (const event of client.listen({ resourceSubscriptions: ['weather://oslo'] })) {
  console.log(event.type)
  const { contents } = await client.readResource('weather://oslo')
  console.log(contents[0])
  if (event.type === 'resourceUpdated') break
  degrees = 21
  await server.notifyResourceUpdated('weather://oslo')
}
