import Anthropic from '@anthropic-ai/sdk'
import type { Client } from '@x/client'
import { anthropicTools } from '@x/client/models'

const anthropic = new Anthropic()

/** Lets a model answer a question with the tools of a server. */
export async function answer(client: Client, question: string, signal: AbortSignal): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (;;) {
    const tools = await anthropicTools(client)
    const request = { model: 'claude-sonnet-4-5', max_tokens: 4096, messages, tools: tools.definitions }
    const { content } = await anthropic.messages.create(request, { signal })
    const results = await tools.run(content, { signal })
    if (results.length === 0) return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
}
