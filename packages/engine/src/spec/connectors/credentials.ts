import { Type } from 'typebox';
import { need, refuse, warn, when } from '../finding.ts';
import { FROM_SECRET, oneOf, SECRET, withRule } from '../schema.ts';

export const basicAuth = Type.Object(
  {
    username: Type.String({ description: 'The name of the user.', ...FROM_SECRET }),
    password: Type.String({ description: 'The password of the user.', ...SECRET }),
  },
  { description: 'User and password, sent with every request.' },
);

export const sasl = Type.Object(
  {
    mechanism: oneOf(['plain', 'scram-sha-256', 'scram-sha-512'], {
      default: 'plain',
      description: 'How the password is proved. With plain it is sent as it is.',
    }),
    username: Type.String({ description: 'The name of the user.', ...FROM_SECRET }),
    password: Type.String({ description: 'The password of the user.', ...SECRET }),
  },
  { description: 'Authenticates with user and password.' },
);

/** One of three ways, in this order: a token as it is, a user with a password, a client with a secret. */
export const keycloak = withRule(
  Type.Object(
    {
      token: Type.Optional(
        Type.String({ description: 'A token that lives long: it is used as it is and never refreshed.', ...SECRET }),
      ),
      serverURL: Type.Optional(
        Type.String({ format: 'http-url', description: 'Address of Keycloak, without the realm.', ...FROM_SECRET }),
      ),
      realm: Type.Optional(Type.String({ description: 'The realm that issues the tokens.', ...FROM_SECRET })),
      clientID: Type.Optional(Type.String({ description: 'The OAuth2 client.', ...FROM_SECRET })),
      clientSecret: Type.Optional(Type.String({ description: 'The secret of the client.', ...SECRET })),
      username: Type.Optional(Type.String({ description: 'The user of the password grant.', ...FROM_SECRET })),
      password: Type.Optional(Type.String({ description: 'The password of that user.', ...SECRET })),
    },
    { description: 'Tokens from Keycloak: a token, or user and password, or client and secret.' },
  ),
  (given, has) => {
    if (has('token')) return [];
    const isUser = has('username') && has('password');
    return [
      ...when(
        given.serverURL?.startsWith('http:') === true,
        warn('serverURL', 'over http:// secrets and tokens are sent in clear text'),
      ),
      ...(['serverURL', 'realm', 'clientID'] as const)
        .filter((field) => !has(field))
        .map((field) => need(field, `${field} or ${field}SecretRef is required without a token`)),
      ...when(
        !isUser && !has('clientSecret'),
        refuse('', 'Keycloak authentication requires either token, username/password, or client secret'),
      ),
    ];
  },
);
