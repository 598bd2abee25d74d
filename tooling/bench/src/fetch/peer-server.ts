import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { answerQuestions } from '../http/answer-questions.ts'
import { officialEcho } from '../http/official.ts'

const handler = officialEcho()
const hosts = localhostAllowedHostnames()
const origins = localhostAllowedOrigins()

// Our handler checks Host and Origin, so the checks of the official SDK run before its handler, as its documentation
// describes.
answerQuestions(
  createServer(
    getRequestListener((request) => {
      const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
      return refusal ?? handler.fetch(request)
    }),
  ),
)
