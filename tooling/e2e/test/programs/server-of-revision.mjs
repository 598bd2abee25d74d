// A server of the official SDK at the revision of its first argument. It asks if the revision has elicitation.
const [revision] = process.argv.slice(2)
const sdk = `@modelcontextprotocol/sdk-${revision}`
const { Server } = await import(`${sdk}/server/index.js`)
const { StdioServerTransport } = await import(`${sdk}/server/stdio.js`)
const { CallToolRequestSchema, ListToolsRequestSchema } = await import(`${sdk}/types.js`)

const server = new Server({ name: 'old', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'ask', description: 'Asks', inputSchema: { type: 'object' } }],
}))
server.setRequestHandler(CallToolRequestSchema, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const answer = await server.elicitInput?.({ message: 'Name?', requestedSchema })
  return { content: [{ type: 'text', text: answer?.content?.name ?? 'no user was asked' }] }
})
await server.connect(new StdioServerTransport())
