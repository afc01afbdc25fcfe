<?php
/**
 * Labeled fields of the boxes and screens.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Prints a control below its label, with its description.
 *
 * @param string $name    Name and id of the control.
 * @param string $label   Label.
 * @param string $control Markup.
 * @param string $help    Description, or ''.
 */
function newsroom_print_field( $name, $label, $control, $help ) {
	printf( '<p><label for="%1$s"><strong>%2$s</strong></label><br>%3$s</p>', esc_attr( $name ), esc_html( $label ), $control ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
	if ( '' !== $help ) {
		printf( '<p class="description" id="%1$s-description">%2$s</p>', esc_attr( $name ), esc_html( $help ) );
	}
}

/**
 * Prints a field of one line.
 *
 * @param string $name       Name and id.
 * @param string $label      Label.
 * @param string $value      Value.
 * @param string $help       Description, or ''.
 * @param array  $attributes More attributes, see newsroom_control_attributes(); the `type` is `text` by default.
 */
function newsroom_print_input( $name, $label, $value, $help = '', $attributes = array() ) {
	newsroom_print_field( $name, $label, newsroom_input( $name, $value, $help, $attributes ), $help );
}

/**
 * Prints a field of several lines.
 *
 * @param string $name       Name and id.
 * @param string $label      Label.
 * @param string $value      Value.
 * @param string $help       Description, or ''.
 * @param array  $attributes More attributes, see newsroom_control_attributes().
 */
function newsroom_print_textarea( $name, $label, $value, $help = '', $attributes = array() ) {
	$control = sprintf( '<textarea%1$s>%2$s</textarea>', newsroom_control_attributes( $name, $help, $attributes ), esc_textarea( $value ) );
	newsroom_print_field( $name, $label, $control, $help );
}

/**
 * Prints a choice.
 *
 * @param string                   $name       Name and id.
 * @param string                   $label      Label.
 * @param int|string               $chosen     Value.
 * @param array<int|string,string> $options    Labels by value.
 * @param string                   $help       Description, or ''.
 * @param array                    $attributes More attributes, see newsroom_control_attributes().
 */
function newsroom_print_select( $name, $label, $chosen, $options, $help = '', $attributes = array() ) {
	newsroom_print_field( $name, $label, newsroom_select( $name, $chosen, $options, $help, $attributes ), $help );
}

/**
 * An input.
 *
 * @param string $name       Name and id.
 * @param string $value      Value.
 * @param string $help       Description, or ''.
 * @param array  $attributes More attributes.
 * @return string Markup.
 */
function newsroom_input( $name, $value, $help, $attributes ) {
	return sprintf( '<input%1$s value="%2$s">', newsroom_control_attributes( $name, $help, $attributes + array( 'type' => 'text' ) ), esc_attr( $value ) );
}

/**
 * A choice.
 *
 * @param string                   $name       Name and id.
 * @param int|string               $chosen     Value.
 * @param array<int|string,string> $options    Labels by value.
 * @param string                   $help       Description, or ''.
 * @param array                    $attributes More attributes.
 * @return string Markup.
 */
function newsroom_select( $name, $chosen, $options, $help = '', $attributes = array() ) {
	return sprintf( '<select%1$s>%2$s</select>', newsroom_control_attributes( $name, $help, $attributes ), newsroom_options( $options, $chosen ) );
}

/**
 * Options of a choice.
 *
 * @param array<int|string,string> $options Labels by value.
 * @param int|string               $chosen  Value.
 * @return string Markup.
 */
function newsroom_options( $options, $chosen ) {
	$markup = '';
	foreach ( $options as $value => $label ) {
		$markup .= sprintf( '<option value="%1$s"%2$s>%3$s</option>', esc_attr( $value ), selected( $chosen, $value, false ), esc_html( $label ) );
	}
	return $markup;
}

/**
 * A choice for a control of the block editor.
 *
 * @param array<int|string,string> $options Labels by value.
 * @return array[] Each: `value` and `label`.
 */
function newsroom_choices( $options ) {
	$choices = array();
	foreach ( $options as $value => $label ) {
		$choices[] = compact( 'value', 'label' );
	}
	return $choices;
}

/**
 * Attributes of a control.
 *
 * @param string $name       Name and id.
 * @param string $help       Its description, or ''.
 * @param array  $attributes More attributes by their names, for any but the usual ones: true for one without a value, null for none.
 * @return string Markup.
 */
function newsroom_control_attributes( $name, $help, $attributes ) {
	$usual  = array(
		'class'            => 'widefat',
		'aria-describedby' => '' === $help ? null : "$name-description",
		'id'               => $name,
		'name'             => $name,
	);
	$markup = '';
	foreach ( $attributes + $usual as $key => $value ) {
		if ( null !== $value ) {
			$markup .= true === $value ? " $key" : sprintf( ' %1$s="%2$s"', $key, esc_attr( $value ) );
		}
	}
	return $markup;
}
