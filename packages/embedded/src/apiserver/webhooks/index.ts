export {
  postOverSocket,
  type ServiceResolver,
  type WebhookAddress,
  type WebhookCaller,
  type WebhookPost,
  type WebhookRequest,
  type WebhookService,
  webhookCaller,
} from './caller.ts';
