import type { WebhookFormat } from '../../../../src/schema/notification.ts';

/** What a webhook can send: signed JSON for a program, or a text for the people in a chat. */
export const FORMATS = [
  { value: 'signed', label: 'Signed JSON', example: 'https://example.com/hook' },
  {
    value: 'telegram',
    label: 'Telegram',
    example: 'https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>',
  },
  { value: 'discord', label: 'Discord', example: 'https://discord.com/api/webhooks/<id>/<token>' },
  { value: 'slack', label: 'Slack', example: 'https://hooks.slack.com/services/<team>/<app>/<token>' },
] as const satisfies readonly {
  readonly value: WebhookFormat;
  readonly label: string;
  readonly example: string;
}[];
