import { setTimeout as delay } from 'node:timers/promises'
import { tool, ToolError } from '@x/server'

const pauseMilliseconds = 50
const reconnectionMilliseconds = 800

/** Tools that exercise errors, notifications and capabilities. */
export const protocolTools = [
  tool('test_error_handling', {
    description: 'Always fails',
    run: () => {
      throw new ToolError('This tool intentionally returns an error for testing')
    },
  }),
  tool('test_tool_with_progress', {
    description: 'Reports progress three times',
    run: async (_, ctx) => {
      for (const progress of [0, 50, 100]) {
        ctx.progress(progress, 100, `${progress} of 100`)
        await delay(pauseMilliseconds, undefined, { signal: ctx.signal })
      }
      return 'Progress was reported.'
    },
  }),
  tool('test_logging_tool', {
    description: 'Logs if the request sets a log level',
    run: (_, ctx) => {
      ctx.log('info', 'The tool runs')
      return 'Logged one message.'
    },
  }),
  tool('test_tool_with_logging', {
    description: 'Logs three times',
    run: async (_, ctx) => {
      for (const step of ['started', 'works', 'ends']) {
        ctx.log('info', `The tool ${step}`)
        await delay(pauseMilliseconds, undefined, { signal: ctx.signal })
      }
      return 'Logged three times.'
    },
  }),
  tool('test_reconnection', {
    description: 'Runs longer than the connections of older clients stay open',
    run: async (_, ctx) => {
      await delay(reconnectionMilliseconds, undefined, { signal: ctx.signal })
      return 'The result was sent after a reconnection.'
    },
  }),
  tool('test_missing_capability', {
    description: 'Can be called by clients that declare sampling',
    requires: { sampling: {} },
    run: () => 'The client declares sampling.',
  }),
]
